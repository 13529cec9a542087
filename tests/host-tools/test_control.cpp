// Words become requests, and requests go over a wire that loses some of them.
#include "catch_2_or_3.hpp"
#include "control/relay.hpp"
#include "control/requests.hpp"
#include "control/steering.hpp"
#include "records.hpp"
#include "records/record_text.hpp"
#include "run/probes.hpp"
#include "stream_maker.hpp"
#include "system/error.hpp"
#include "wires.hpp"

#include <deque>
#include <thread>

using namespace mmioscope;
using namespace mmioscope::control;
using namespace mmioscope::test;
using abi::control::Command;
using abi::control::Reply;
using abi::control::Request;

namespace {

std::vector<control::Place> find(const std::string& name) {
    if (name == "uart") {
        return {{0x1c09'0000, 0x1000}};
    }
    if (name == "gic") {
        return {{0x2c00'1000, 0x1000}, {0x2c00'2000, 0x100}};
    }
    throw bad_input("there is no device '{}'", name);
}

std::vector<Ask> asks(const std::string& line) {
    return asks_of(words_of(line), find);
}

/// Replies to each request with the result of `answer`.
struct FakeChannel : Channel {
    std::vector<Request> requests;
    abi::control::Status status = abi::control::Status::done;

    Reply ask(const Request& request) override {
        requests.push_back(request);
        return {1, status, request.id, {37, 0x102}, 0};
    }
};

} // namespace

TEST_CASE("words become requests") {
    using Asks = std::vector<Ask>;
    CHECK(asks("start") == Asks{{Command::start}});
    CHECK(asks("select all") == Asks{{Command::select, abi::control::all_regions}});
    CHECK(asks("deselect uart gic 0x1000+4K") ==
          Asks{{Command::deselect_range, 0x1c09'0000, 0x1000},
               {Command::deselect_range, 0x2c00'1000, 0x1000},
               {Command::deselect_range, 0x2c00'2000, 0x100},
               {Command::deselect_range, 0x1000, 0x1000}});
    CHECK(asks("filter direction w value 4/0xff cpus 0,2 pc 0x8000+0x100") ==
          Asks{{Command::filter_directions, 2},
               {Command::filter_values, 0xff, 4},
               {Command::filter_cpus, 5},
               {Command::filter_pcs, 0x8000, 0x100}});
    CHECK(asks("filter address uart+0x18") == Asks{{Command::filter_addresses, 0x1c09'0018, 4}});
    CHECK(asks("trigger start direction r address uart count 3") ==
          Asks{{Command::no_trigger},
               {Command::trigger_directions, 1},
               {Command::trigger_addresses, 0x1c09'0000, 0x1000},
               {Command::trigger_start, 3}});
    CHECK(asks("trigger none") == Asks{{Command::no_trigger}});
    CHECK(asks("pages on") == Asks{{Command::pages_on}});
    CHECK(asks("pages off") == Asks{{Command::pages_off}});
    CHECK_THROWS_WITH(asks("pages"), Catch::Contains("on or off"));
    CHECK_THROWS_WITH(asks("pages of"), Catch::Contains("expected on or off"));
    CHECK(asks("mark 0x100000002") == Asks{{Command::marker, 2, 1}});
    CHECK(asks("mark ab cdefg") ==
          Asks{{Command::marker_text, 0x6320'6261, 0x6766'6564}, {Command::marker_text, 0, 0}});
    CHECK(asks("policy stall") == Asks{{Command::policy, 1}});
}

TEST_CASE("memory is watched byte by byte") {
    using Asks = std::vector<Ask>;
    CHECK(asks("watch uart 0x80000ffc+8 uart+8") == Asks{{Command::watch, 0x1c09'0000, 0x1000},
                                                         {Command::watch, 0x8000'0ffc, 8},
                                                         {Command::watch, 0x1c09'0008, 4}});
    CHECK(asks("unwatch 0x80001000+4K all") ==
          Asks{{Command::unwatch, 0x8000'1000, 0x1000}, {Command::unwatch}});
    CHECK_THROWS_WITH(asks("watch"), Catch::Contains("a variable"));
    CHECK_THROWS_WITH(asks("watch all"), Catch::Contains("'all'"));
    CHECK_THROWS_WITH(asks("watch 0x80000000+17M"), Catch::Contains("at most 16 MiB"));
    CHECK_THROWS_WITH(asks("watch 0xfffff000+8K"), Catch::Contains("above 4 GiB"));
}

TEST_CASE("a variable lies as far from the first byte of memory as the kernel has it") {
    const auto variables = run::variables_in({{0xc020'8000, 'T', "_stext", ""},
                                              {0xc17a'e010, 'B', "lock", ""},
                                              {0xc17a'e018, 'b', "next", ""},
                                              {0xbf00'0000, 't', "of_a_module", "mmc"},
                                              {0x10, 'A', "absolute", ""}},
                                             0x8000'0000);
    const auto found = variables("lock");
    REQUIRE(found.size() == 1);
    CHECK(found[0].base == 0x817a'e010);
    CHECK(found[0].size == 8);
    CHECK(run::watch_cells({"lock", "lock+4", "0x80001000+4"}, variables) ==
          std::vector<std::uint32_t>{0x817a'e010, 8, 0x817a'e014, 4, 0x8000'1000, 4});
    CHECK(run::page_cells({"lock", "0x80001004+16M"}, variables) ==
          std::vector<std::uint32_t>{0x817a'e000, 0x1000, 0x8000'1000, 0x100'1000});
    CHECK(run::page_cells({"lock", "all"}, variables).empty());
    CHECK(run::page_cells({"lock", "limit=100"}, variables) ==
          std::vector<std::uint32_t>{100, 0x817a'e000, 0x1000});
    CHECK(run::page_cells({"limit=255", "all"}, variables) == std::vector<std::uint32_t>{255});
    CHECK_THROWS_WITH(run::page_cells({"0xfffff000+8K"}, variables),
                      Catch::Contains("above 4 GiB"));
    for (const char* name : {"absolute", "of_a_module", "none"}) {
        CHECK_THROWS_WITH(variables(name), Catch::Contains("no such variable"));
    }
}

TEST_CASE("probes name functions, whose instructions somebody must know") {
    using Asks = std::vector<Ask>;
    CHECK_THROWS_WITH(asks("probe vfs_read"), Catch::Contains("--kernel"));
    const control::FindCode code = [](const std::string& name) {
        return name == "v*"
                   ? std::vector<control::Instruction>{{0xc0010000, 1, 1}, {0xc0020000, 2, 0}}
                   : std::vector<control::Instruction>{{0xc0030000, 3, 0}};
    };
    const auto with_code = [&](const std::string& line) {
        return asks_of(words_of(line), {}, code);
    };
    const Ask plain{Command::probe_action, 0, 1};
    CHECK(with_code("probe v* x") == Asks{plain,
                                          {Command::probe, 0xc0010001, 1},
                                          {Command::probe, 0xc0020000, 2},
                                          {Command::probe, 0xc0030000, 3}});
    CHECK(with_code("probe x,count y,count z,if=arg2&0xf0==0x10,if=task>9,sample=100,stop w") ==
          Asks{{Command::probe_action, 1, 1},
               {Command::probe, 0xc0030000, 3},
               {Command::probe, 0xc0030000, 3},
               {Command::probe_action, 3, 100},
               {Command::probe_mask, 0, 0xf0},
               {Command::probe_if, 0x002, 0x10},
               {Command::probe_if, 0x304, 9},
               {Command::probe, 0xc0030000, 3},
               plain,
               {Command::probe, 0xc0030000, 3}});
    CHECK(with_code("hits x") == Asks{{Command::probe_hits, 0xc0030000}});
    for (const char* line :
         {"probe x,counts", "probe x,sample=0", "probe x,if=", "probe x,if=arg0",
          "probe x,if=arg0=1", "probe x,if=arg4==1", "probe x,if=arg0==", "probe x,if=arg0&==1",
          "probe x,if=arg0==1,if=arg0==1,if=arg0==1,if=arg0==1,if=arg0==1", "unprobe x,count",
          "hits x,count"}) {
        CAPTURE(line);
        CHECK_THROWS_AS(with_code(line), Error);
    }
    CHECK(with_code("unprobe x all") == Asks{{Command::unprobe, 0xc0030000}, {Command::unprobe}});
    CHECK_THROWS_WITH(with_code("probe"), Catch::Contains("a function expected"));
}

TEST_CASE("invalid words are refused in one line") {
    for (const char* line : {"",
                             "begin",
                             "start now",
                             "select",
                             "select nothing",
                             "select 0x10+0",
                             "filter",
                             "filter direction x",
                             "filter value 0x10/0xf",
                             "filter cpus 9",
                             "filter cpus ,",
                             "filter pc uart",
                             "filter address gic",
                             "filter address uart+0x1000",
                             "sample 0",
                             "sample 4294967296",
                             "trigger",
                             "trigger begin",
                             "trigger start count",
                             "policy never",
                             "select 0xffffffff+2",
                             "select 0x100000000+1"}) {
        CAPTURE(line);
        try {
            asks(line);
            FAIL_CHECK("accepted");
        } catch (const Error& error) {
            CHECK(error.status() == mmioscope::Status::bad_input);
            CHECK(std::string(error.what()).find('\n') == std::string::npos);
        }
    }
}

TEST_CASE("requests are carried out in order, with consecutive ids") {
    FakeChannel channel;
    CHECK(carry_out(words_of("status"), find, channel) == "tracing is on; 2 CPUs, 37 regions\n");
    carry_out(words_of("mark a longer text than one piece"), find, channel);
    REQUIRE(channel.requests.size() == 5);
    for (std::size_t i = 2; i < 5; ++i) {
        CHECK(channel.requests[i].id == static_cast<std::uint16_t>(channel.requests[1].id + i - 1));
        CHECK(channel.requests[i].check == check_of(channel.requests[i]));
    }
    channel.status = abi::control::Status::finer;
    CHECK_THROWS_WITH(carry_out(words_of("stop"), find, channel),
                      Catch::Contains("refused: the range ends inside"));
}

TEST_CASE("a device is named by its path, its alias, or the end of its path") {
    wire::StreamHead head{};
    head.regions = {region(0x1000, 0x100, "/soc/uart@1000"),
                    region(0x2000, 0x100, "/soc/uart@2000"),
                    region(0x3000, 0x100, "/a/mmc@0"),
                    region(0x4000, 0x100, "/b/mmc@0"),
                    region(0x5000, 0x100, "~bus/very-long@5000"),
                    region(0x6000, 0x100, "/soc/uart@1000")};
    head.aliases = {{"serial0", "/soc/uart@2000"},
                    {"long", "/soc/bus/very-long@5000"},
                    {"nothing", "/soc/nothing"}};
    const auto bases = [&head](const std::string& name) {
        std::vector<std::uint64_t> found;
        for (const control::Place& place : find_device(head, name)) {
            found.push_back(place.base);
        }
        return found;
    };
    using Bases = std::vector<std::uint64_t>;
    CHECK(bases("/soc/uart@1000") == Bases{0x1000, 0x6000}); // two entries of `reg`
    CHECK(bases("uart@1000") == Bases{0x1000, 0x6000});
    CHECK(bases("serial0") == Bases{0x2000});
    CHECK(bases("b/mmc@0") == Bases{0x4000});
    CHECK(bases("long") == Bases{0x5000});
    CHECK_THROWS_WITH(bases("mmc@0"), "'mmc@0' is the name of several devices: /a/mmc@0, /b/mmc@0");
    for (const char* const name : {"nothing", "rt@1000", "soc", "", "/"}) {
        CAPTURE(name);
        CHECK_THROWS_WITH(bases(name),
                          Catch::Contains("there is no device") &&
                              Catch::Contains("; devices: a/mmc@0, b/mmc@0, long, serial0, "
                                              "uart@1000"));
    }
}

TEST_CASE("records of changes read like the words that requested them") {
    abi::Record record{};
    record.value = 0x1c09'0000 | std::uint64_t{0x1000} << 32;
    record.pa_low = static_cast<std::uint32_t>(Command::select_range);
    CHECK(trace::change_text(record) == "select 0x1c090000+0x1000");
    record.pa_low = static_cast<std::uint32_t>(Command::filter_values);
    record.value = 0xff | std::uint64_t{4} << 32;
    CHECK(trace::change_text(record) == "filter value 0x4/0xff");
    record.pa_low = static_cast<std::uint32_t>(Command::trigger_stop);
    record.value = abi::control::fired;
    CHECK(trace::change_text(record) == "trigger stop fired");
    record.value = 0x817d'6000 | std::uint64_t{0x2000} << 32;
    record.pa_low = static_cast<std::uint32_t>(Command::watch);
    CHECK(trace::change_text(record) == "watch 0x817d6000+0x2000");
    record.value = 0x817d'6000 | std::uint64_t{0x1000'1000} << 32;
    record.pa_low = static_cast<std::uint32_t>(Command::unwatch);
    CHECK(trace::change_text(record) ==
          "unwatch 0x817d6000+0x1000: the guest executes what lies there");
    record.pa_low = static_cast<std::uint32_t>(Command::pages_off);
    CHECK(trace::change_text(record) == "pages off");
    record.value = ~std::uint64_t{0};
    record.pa_low = static_cast<std::uint32_t>(Command::filter_values); // its arguments, all ones
    CHECK(trace::change_text(record) == "filter value 0xffffffff/0xffffffff");
}

TEST_CASE("a move of a page says from whom, and by what") {
    using enum abi::MoveBy;
    abi::Record record{};
    record.cpu = 1;
    const auto text = [&](abi::MoveBy by, unsigned holders, bool writable) {
        record.value = abi::move_value(by, holders, writable);
        return trace::move_text(record);
    };
    CHECK(text(load, 0, false) == "load, first");
    CHECK(text(store, 0b1101, false) == "store from cpu0 cpu2 cpu3");
    CHECK(text(store, 0b0011, false) == "store from cpu0");
    CHECK(text(store, 0b0010, false) == "store, had it to read");
    CHECK(text(fetch, 0b0001, true) == "fetch from cpu0");
    CHECK(text(walk, 0b0001, false) == "walk beside cpu0");
    CHECK(text(freed, 0, false) == "free");
    CHECK(text(taken_back, 0, false) == "back");
    record.value = ~std::uint64_t{0};
    CHECK(trace::move_text(record).starts_with("?"));
}

namespace {

/// A board at the other end of a unix socket: answers requests, but not every time.
class Board {
public:
    explicit Board(const std::string& path)
        : wire_(listening(path)), thread_([this] { serve(); }) {}
    ~Board() {
        ends_ = true;
        thread_.join();
    }

    std::atomic<unsigned> heard{0};      ///< requests received
    std::atomic<unsigned> done{0};       ///< carried out; a repeated request only gets its reply
    std::atomic<unsigned> hears_only{1}; ///< answers one request in this many

private:
    // Opened once before anybody connects: the socket's file exists a moment before it listens.
    static wire::Transport listening(const std::string& path) {
        wire::Transport wire =
            wire::make_transport(wire::parse_address("unix:" + path + ",listen"), 0);
        wire.open(std::chrono::milliseconds(0));
        return wire;
    }

    void serve() {
        std::vector<std::byte> bytes(4096);
        Request last{};
        while (!ends_) {
            if (!wire_.is_open() && !wire_.open(soon)) {
                continue;
            }
            const wire::ReadResult got = wire_.read(bytes, soon);
            if (got.outcome != wire::Outcome::bytes || ++heard % hears_only != 0) {
                continue;
            }
            Request request;
            std::memcpy(&request, bytes.data(), sizeof request);
            const bool again = std::memcmp(&request, &last, sizeof request) == 0;
            last = request;
            done += again ? 0 : 1;
            StreamMaker maker;
            if (request.command == Command::hello && !again) {
                maker.hello({{0x1c09'0000, 0x1000, 0, abi::region_traced, 0, 7, 0}}, "/bus@0/");
            }
            maker.records({abi::Record{}}); // the stream continues meanwhile
            Reply reply{1, abi::control::Status::done, request.id, {request.argument[0], 2}, 0};
            reply.check = check_of(reply);
            std::vector<std::uint8_t> payload;
            StreamMaker::append(payload, reply);
            maker.frame(abi::FrameType::reply, payload);
            wire_.write(maker.wire(), long_enough);
        }
    }

    std::atomic<bool> ends_{false};
    wire::Transport wire_;
    std::thread thread_;
};

} // namespace

TEST_CASE("over a wire: the reply is found in the stream, and requested again if it is lost") {
    const Folder folder;
    Board board(folder / "board");
    wire::Transport wire =
        wire::make_transport(wire::parse_address("unix:" + (folder / "board")), 0);
    REQUIRE(wire.open(long_enough));
    WireChannel channel(wire, long_enough);
    CHECK(channel.ask(abi::control::make_request(Command::marker, 9, 5)).value[0] == 5);
    CHECK(find_device(channel.head(), "/bus@0/").front().base == 0x1c09'0000);
    CHECK_THROWS_WITH(find_device(channel.head(), "uart"), Catch::Contains("there is no device"));
    const unsigned heard = board.heard;
    CHECK(!WireChannel(wire, long_enough).head().regions.empty()); // the program's next call
    CHECK(board.heard == heard + 1);
    const unsigned before = board.done;
    board.hears_only = 2;
    for (std::uint16_t id = 20; id < 22; ++id) {
        CHECK(channel.ask(abi::control::make_request(Command::marker, id, id)).id == id);
    }
    CHECK(board.done == before + 2);
    board.hears_only = 1000;
    WireChannel hasty(wire, std::chrono::milliseconds(100));
    CHECK_THROWS_WITH(hasty.ask(abi::control::make_request(Command::marker, 9, 5)),
                      Catch::Contains("no reply"));
}

TEST_CASE("a relay's clients do not wait for each other, nor mix on the wire") {
    const Folder folder;
    std::vector<std::byte> to_wire;
    const std::string path = folder / "a,b.sock";
    Relay relay(path, [&to_wire](std::span<const std::byte> bytes) {
        to_wire.insert(to_wire.end(), bytes.begin(), bytes.end());
    });
    const auto client = [&] {
        wire::Transport made = wire::make_transport(wire::parse_address("unix:" + path), 0);
        REQUIRE(made.open(long_enough));
        relay.pass({});
        return made;
    };
    std::vector<wire::Transport> silent;
    for (std::size_t i = 0; i < Relay::most_clients + 10; ++i) { // more than it serves
        silent.push_back(client());
        const std::vector<std::byte> half(7, std::byte{0xaa});
        REQUIRE(silent.back().write(half, long_enough) == half.size());
        relay.pass({});
    }
    wire::Transport speaks = client();
    const std::vector<std::byte> request(16, std::byte{0x55});
    REQUIRE(speaks.write(request, long_enough) == request.size());
    relay.pass({});
    CHECK(to_wire == request);
    relay.pass(std::vector<std::byte>(40, std::byte{7}));
    CHECK(receive(speaks, 40) == std::string(40, '\7'));
    CHECK(receive(silent.back(), 40) == std::string(40, '\7'));
}

TEST_CASE("a relay lets clients control a wire that is being read") {
    const Folder folder;
    std::vector<std::byte> to_wire;
    Relay relay(folder / "ctl", [&to_wire](std::span<const std::byte> bytes) {
        to_wire.insert(to_wire.end(), bytes.begin(), bytes.end());
    });
    relay.pass({});
    for (int round = 0; round < 3; ++round) { // one client after the other
        to_wire.clear();
        wire::Transport client =
            wire::make_transport(wire::parse_address("unix:" + (folder / "ctl")), 0);
        REQUIRE(client.open(long_enough));
        const std::vector<std::byte> request(16, std::byte{0x55});
        REQUIRE(client.write(request, long_enough) == request.size());
        for (int turns = 0; turns < 1000 && to_wire.size() < request.size(); ++turns) {
            relay.pass({});
        }
        CHECK(to_wire == request);
        const std::vector<std::byte> answer(40, std::byte{7});
        relay.pass(answer);
        CHECK(receive(client, answer.size()) == std::string(40, '\7'));
        const std::vector<std::byte> flood(1 << 20, std::byte{1}); // not read by the client
        for (int turns = 0; turns < 20; ++turns) {
            relay.pass(flood);
        }
    }
}
