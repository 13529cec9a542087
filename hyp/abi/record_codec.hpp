// How records become bits: the payload of a data frame.
//
// A guest's accesses repeat themselves: the same instruction, after the same one as last time,
// with the same registers. The model remembers *sites* (an instruction and what it accesses), what
// came next to each, and what else was last seen there; of a record only the difference from what
// was to be expected is coded. Hypervisor and host run the same code over the same model, one as
// encoder, one as decoder, so what one expects the other does. A model starts empty with each
// frame.
//
// Behind a record that owns a payload (payload.hpp), of each piece only its bytes are coded, as
// bytes; all else follows from the record before it.
//
// Everything in a Record is coded exactly, but for times and durations: in units of 2^`time_shift`
// ticks, the bits below are cleared. Their order stays. Whatever the bits are, a decoder ends,
// within its model.
#pragma once

#include "abi/payload.hpp"
#include "abi/record_model.hpp"

#include <cstring>
#include <type_traits>

namespace mmioscope::abi {

/// Codes records one after another. `Coder` is Encoder or Decoder.
template <class Coder>
class RecordCodec {
public:
    RecordCodec(Coder& coder, RecordModel& model, unsigned time_shift)
        : coder_(coder), model_(model), shift_(time_shift) {}

    /// Encodes `r`, or fills it in.
    void code(Record& r) {
        if (model_.in_group && !flag(model_.is_piece, !(Coder::encoding && is_next_piece(r))))
            return code_piece(r);
        SiteMemory& last = model_.sites[cpu_->site];
        std::uint8_t at = last.next[0];
        if (flag(last.as_expected, !(Coder::encoding && is_expected(r, at)))) {
            at = code_site(r, code_cpu(r));
            code_sequences(r);
            code_context(r, model_.sites[at]);
        } else if (!Coder::encoding) expect(r, at);
        SiteMemory& site = model_.sites[at];
        remember_sequences(r);
        remember_context(r, site);
        code_value(r, site, at);
        code_time(r, site);
        if (r.type == RecordType::fold) count_folded(r);
        cpu_->site = at;
        model_.in_group = goes_on(r);
        if (model_.in_group) expect_piece(r);
    }

private:
    bool flag(Probability& p, bool b) { return coder_.bit(p, b); }

    /// A field that is `expected`, or as far from it as `number` says.
    template <class T, class Coded>
    void difference(T& field, T expected, Coded& number, LeadingBits& bits) {
        const auto step = static_cast<std::make_signed_t<T>>(field - expected);
        const std::uint64_t coded =
            number.code(coder_, fold_sign(static_cast<std::uint64_t>(step)), bits);
        field = static_cast<T>(expected + static_cast<T>(unfold_sign(coded)));
    }

    // What nearly every record is: of the same CPU, with what came next the last time, in sequence,
    // from the same place with the same stack. One bit says all of it.

    bool is_expected(const Record& r, std::uint8_t at) const {
        return r.cpu == model_.cpu && is_at(at, r) && is_in_sequence(r) &&
               is_in_context(r, model_.sites[at]);
    }

    void expect(Record& r, std::uint8_t at) const {
        r.cpu = model_.cpu;
        take(r, at);
        put_in_sequence(r);
        put_in_context(r, model_.sites[at]);
    }

    std::uint8_t code_cpu(Record& r) {
        const std::uint8_t before = cpu_->site;
        if (!flag(model_.sites[before].same_cpu, r.cpu != model_.cpu)) r.cpu = model_.cpu;
        else r.cpu = static_cast<std::uint8_t>(model_.cpu_tree.code(coder_, r.cpu));
        model_.cpu = r.cpu;
        cpu_ = &model_.cpus[r.cpu];
        return cpu_->site;
    }

    std::uint8_t code_site(Record& r, std::uint8_t before) {
        SiteMemory& last = model_.sites[before];
        for (unsigned i = 0; i < 2; ++i) {
            const std::uint8_t at = last.next[i];
            if (!flag(last.follows[i], !(Coder::encoding && is_at(at, r)))) {
                if (i == 1) remember_next(last, at);
                return take(r, at);
            }
        }
        std::uint8_t at = Coder::encoding ? find(r) : 0;
        if (!flag(model_.known, at == 0))
            at = used(static_cast<std::uint8_t>(model_.known_site.code(coder_, at)));
        else at = add_site(r, last);
        remember_next(last, at);
        return take(r, at);
    }

    /// What no encoder names is no site.
    std::uint8_t used(std::uint8_t at) const { return at <= model_.used ? at : 0; }

    static void remember_next(SiteMemory& last, std::uint8_t at) {
        last.next[1] = last.next[0];
        last.next[0] = at;
    }

    static Site site_of(const Record& r) {
        return {
            {r.type, 0, r.access, r.mode}, {r.device, r.flags, r.pa_high}, r.pa_low, r.va, r.pc};
    }

    template <class T>
    static std::uint32_t word(const T& first) {
        std::uint32_t word = 0;
        // A load, freestanding, too.
        __builtin_memcpy(&word, __builtin_assume_aligned(&first, sizeof word), sizeof word);
        return word;
    }

    /// Place 0 has no site.
    bool is_at(std::uint8_t at, const Record& r) const {
        constexpr std::uint32_t cpu = 0xff00;
        const Site& s = model_.sites[at].site;
        return s.pc == r.pc && s.va == r.va && s.pa_low == r.pa_low &&
               ((word(s.kind) ^ word(r.type)) & ~cpu) == 0 && word(s.place) == word(r.device) &&
               at != 0;
    }

    /// Long: of a record that is not where it is expected.
    std::uint8_t find(const Record& r) const {
        for (unsigned at = 1; at <= model_.used; ++at)
            if (is_at(static_cast<std::uint8_t>(at), r)) return static_cast<std::uint8_t>(at);
        return 0;
    }

    std::uint8_t take(Record& r, std::uint8_t at) const {
        if (Coder::encoding) return at; // it is r's
        const Site& s = model_.sites[at].site;
        r.type = s.kind.type;
        r.access = s.kind.access;
        r.mode = s.kind.mode;
        r.device = s.place.device;
        r.flags = s.place.flags;
        r.pa_high = s.place.pa_high;
        r.pa_low = s.pa_low;
        r.va = s.va;
        r.pc = s.pc;
        return at;
    }

    /// The last place of a site of this device; 0 if there is none.
    std::uint8_t neighbour(std::uint16_t device) const {
        for (unsigned i = 0; i <= model_.used; ++i) {
            const unsigned at = (model_.newest - i) % RecordModel::max_sites;
            if (at != 0 && at <= model_.used && model_.sites[at].site.place.device == device)
                return static_cast<std::uint8_t>(at);
        }
        return 0;
    }

    static std::uint64_t address(const Site& s) {
        return std::uint64_t{s.place.pa_high} << 32 | s.pa_low;
    }

    /// Most new sites are like the one before them.
    void code_kind(Site& s, const Site& before) {
        auto& [type, unused, access, mode] = s.kind;
        const auto& was = before.kind;
        if (!flag(model_.same_access, access != was.access)) access = was.access;
        else access = static_cast<std::uint8_t>(model_.access.code(coder_, access));
        std::uint8_t& flags = s.place.flags;
        if (!flag(model_.same_kind,
                  type != was.type || mode != was.mode || flags != before.place.flags)) {
            type = was.type;
            mode = was.mode;
            flags = before.place.flags;
            return;
        }
        type = static_cast<RecordType>(model_.type.code(coder_, static_cast<std::uint8_t>(type)));
        mode = static_cast<std::uint8_t>(model_.mode.code(coder_, mode));
        flags = static_cast<std::uint8_t>(model_.flags.code(coder_, flags));
    }

    void code_device(std::uint16_t& device, std::uint16_t before) {
        if (!flag(model_.same_device, device != before)) {
            device = before;
            return;
        }
        // no_device is 0xffff, and all others are below max_regions: the low byte and one bit more
        const bool none = flag(model_.no_region, device >= max_regions);
        device = none ? no_device : static_cast<std::uint16_t>(model_.device.code(coder_, device));
    }

    std::uint8_t add_site(const Record& r, const SiteMemory& last) {
        Site s = site_of(r);
        code_kind(s, last.site);
        code_device(s.place.device, last.site.place.device);
        const Site& near = model_.sites[neighbour(s.place.device)].site;
        std::uint64_t pa = address(s);
        difference(pa, address(near), model_.pa, model_.address_bits);
        s.pa_low = static_cast<std::uint32_t>(pa);
        s.place.pa_high = static_cast<std::uint8_t>(pa >> 32);
        difference(s.va, s.pa_low - near.pa_low + near.va, model_.va, model_.address_bits);
        difference(s.pc, last.site.pc, model_.pc, model_.address_bits);
        // 0 is what the model starts with: no site's place
        model_.newest = static_cast<std::uint8_t>(model_.newest % (RecordModel::max_sites - 1) + 1);
        if (model_.newest > model_.used) model_.used = model_.newest;
        SiteMemory& memory = model_.sites[model_.newest];
        memory = {};
        memory.site = s;
        return model_.newest;
    }

    /// Of the region's next access; 0 for what is of none.
    std::uint32_t next_lock_sequence(const Record& r) const {
        return r.device < max_regions ? model_.lock_sequence[r.device] : 0;
    }

    bool is_in_sequence(const Record& r) const {
        const CpuMemory& cpu = *cpu_;
        return r.cpu_sequence == cpu.cpu_sequence && r.commit == cpu.commit &&
               r.lock_sequence == next_lock_sequence(r);
    }

    void put_in_sequence(Record& r) const {
        const CpuMemory& cpu = *cpu_;
        r.cpu_sequence = cpu.cpu_sequence;
        r.commit = cpu.commit;
        r.lock_sequence = next_lock_sequence(r);
    }

    void code_sequences(Record& r) {
        const CpuMemory& cpu = *cpu_;
        if (!flag(model_.in_sequence, !is_in_sequence(r))) return put_in_sequence(r);
        difference(r.cpu_sequence, cpu.cpu_sequence, model_.sequence, model_.address_bits);
        difference(r.commit, r.cpu_sequence + (cpu.commit - cpu.cpu_sequence), model_.sequence,
                   model_.address_bits);
        difference(r.lock_sequence, next_lock_sequence(r), model_.sequence, model_.address_bits);
    }

    void remember_sequences(const Record& r) {
        CpuMemory& cpu = *cpu_;
        cpu.cpu_sequence = r.cpu_sequence + 1;
        cpu.commit = r.commit + 1;
        if (r.device < max_regions) model_.lock_sequence[r.device] = r.lock_sequence + 1;
    }

    /// What follows is numbered behind all that `r` stands for.
    void count_folded(const Record& r) {
        const auto more = static_cast<std::uint32_t>(r.value) - 1;
        CpuMemory& cpu = *cpu_;
        cpu.cpu_sequence += more;
        cpu.commit += more;
        if (r.device < max_regions) model_.lock_sequence[r.device] += more;
    }

    bool is_in_context(const Record& r, const SiteMemory& site) const {
        const CpuMemory& cpu = *cpu_;
        return r.lr == site.lr && r.sp == cpu.sp + site.sp_step && r.task == cpu.task;
    }

    void put_in_context(Record& r, const SiteMemory& site) const {
        const CpuMemory& cpu = *cpu_;
        r.lr = site.lr;
        r.sp = cpu.sp + site.sp_step;
        r.task = cpu.task;
    }

    void code_context(Record& r, SiteMemory& site) {
        const CpuMemory& cpu = *cpu_;
        if (!flag(site.same_context, !is_in_context(r, site))) return put_in_context(r, site);
        if (!flag(model_.same_task, r.task != cpu.task)) r.task = cpu.task;
        else code_task(r);
        code_lr(r, site, cpu);
        code_sp(r, site, cpu);
    }

    void remember_context(const Record& r, SiteMemory& site) {
        CpuMemory& cpu = *cpu_;
        site.lr = cpu.lr = r.lr;
        site.sp_step = r.sp - cpu.sp;
        site.sp = cpu.sp = r.sp;
        cpu.task = r.task;
        if (model_.tasks[0].task == r.task) model_.tasks[0].sp = r.sp;
    }

    /// Leaves it in front of the tasks.
    void code_task(Record& r) {
        constexpr unsigned places = 1u << RecordModel::task_bits;
        unsigned at = 0;
        if (Coder::encoding)
            while (at < places && model_.tasks[at].task != r.task) ++at;
        const bool known = !flag(model_.known_task, at == places);
        if (known) at = model_.known_task_at.code(coder_, at);
        TaskMemory task = known ? model_.tasks[at] : TaskMemory{r.task, 0};
        if (!known)
            difference(task.task, model_.tasks[0].task, model_.task, model_.address_bits),
                at = places - 1;
        for (; at > 0; --at) model_.tasks[at] = model_.tasks[at - 1];
        model_.tasks[0] = task;
        r.task = task.task;
    }

    void code_lr(Record& r, const SiteMemory& site, const CpuMemory& cpu) {
        const auto value = [&](unsigned ago) { return cpu.values[(cpu.turn - ago) % 4]; };
        const std::uint32_t likely[] = {site.lr, cpu.lr, value(1), value(2), value(3), value(4)};
        for (unsigned i = 0; i < 6; ++i)
            if (!flag(model_.lr_is[i], r.lr != likely[i])) {
                r.lr = likely[i];
                return;
            }
        difference(r.lr, cpu.lr, model_.lr, model_.address_bits);
    }

    void code_sp(Record& r, const SiteMemory& site, const CpuMemory& cpu) {
        const std::uint32_t likely[] = {cpu.sp + site.sp_step, site.sp, model_.tasks[0].sp, cpu.sp};
        for (unsigned i = 0; i < 4; ++i)
            if (!flag(model_.sp_is[i], r.sp != likely[i])) {
                r.sp = likely[i];
                return;
            }
        difference(r.sp, cpu.sp, model_.sp, model_.address_bits);
    }

    void code_value(Record& r, SiteMemory& site, std::uint8_t at) {
        CpuMemory& cpu = *cpu_;
        if (!flag(site.hits[0], r.value != site.recent[0])) r.value = site.recent[0];
        else if (!flag(site.is_lr, r.value != r.lr)) r.value = r.lr;
        else code_other_value(r, site, at);
        cpu.values[cpu.turn++ % 4] = static_cast<std::uint32_t>(r.value);
    }

    void code_other_value(Record& r, SiteMemory& site, std::uint8_t at) {
        for (unsigned i = 1; i < SiteMemory::values; ++i)
            if (!flag(site.hits[i], r.value != site.recent[i])) {
                r.value = site.recent[i];
                return to_front(site, i);
            }
        r.value = code_new_value(r.value, at);
        to_front(site, SiteMemory::values - 1);
        site.recent[0] = r.value;
    }

    static void to_front(SiteMemory& site, unsigned i) {
        const std::uint64_t value = site.recent[i];
        for (; i > 0; --i) site.recent[i] = site.recent[i - 1];
        site.recent[0] = value;
    }

    std::uint64_t code_new_value(std::uint64_t value, std::uint8_t at) {
        unsigned bytes = 0;
        if (Coder::encoding)
            for (std::uint64_t v = value; v != 0; v >>= 8) ++bytes;
        const unsigned context = at % RecordModel::value_contexts;
        std::uint8_t& last = model_.last_bytes[context];
        if (!flag(model_.as_many_bytes[context], bytes != last)) bytes = last;
        else last = static_cast<std::uint8_t>(bytes = model_.bytes[context].code(coder_, bytes));
        std::uint64_t result = 0;
        for (unsigned i = bytes; i-- > 0;) {
            const auto byte = static_cast<std::uint8_t>(value >> (8 * i % 64));
            BitTree<8>& tree = i == 0 ? model_.low_byte[context] : model_.high_byte[i % 3];
            result = result << 8 | tree.code(coder_, byte);
        }
        return result;
    }

    void code_time(Record& r, SiteMemory& site) {
        CpuMemory& cpu = *cpu_;
        std::uint64_t time = r.time >> shift_;
        std::uint64_t duration = r.duration >> shift_;
        difference(time, cpu.end != 0 ? cpu.end : model_.time, site.pause, model_.pause_bits);
        duration = site.duration.code(coder_, duration, model_.duration_bits);
        r.time = time << shift_;
        r.duration = static_cast<std::uint32_t>(duration << shift_);
        model_.time = time;
        cpu.end = time + duration;
    }

    void expect_piece(const Record& before) {
        model_.index = next_piece(before).pa_high;
        model_.group_lock = before.lock_sequence;
    }

    /// Without what it has of its own: its bytes, and how many they are.
    Record next_piece_of_group() const {
        Record piece{};
        piece.type = RecordType::payload;
        piece.cpu = model_.cpu;
        piece.time = model_.time << shift_;
        piece.lock_sequence = model_.group_lock;
        piece.cpu_sequence = cpu_->cpu_sequence;
        piece.commit = cpu_->commit;
        piece.device = model_.sites[cpu_->site].site.place.device; // the owner's
        piece.pa_high = model_.index;
        return piece;
    }

    /// Whether `r` is the next piece of the group, and can be written without more.
    bool is_next_piece(const Record& r) const {
        if (!is_sound_piece(r)) return false;
        Record expected = next_piece_of_group();
        expected.time += r.time & ((std::uint64_t{1} << shift_) - 1); // is rounded away
        set_bytes(expected, bytes_of(r), r.access, goes_on(r));
        return std::memcmp(&expected, &r, sizeof r) == 0;
    }

    [[gnu::noinline]] void code_piece(Record& r) {
        if (!model_.knows_pieces)
            std::memset(static_cast<void*>(model_.piece_byte), 0, sizeof model_.piece_byte);
        model_.knows_pieces = true;
        const bool more = !flag(model_.last_piece, !goes_on(r));
        const std::uint32_t count =
            more ? piece_bytes : model_.piece_size.code(coder_, r.access - 1u) + 1;
        Record piece = next_piece_of_group();
        std::uint8_t bytes[piece_bytes];
        for (unsigned i = 0; i < count; ++i)
            bytes[i] =
                static_cast<std::uint8_t>(model_.piece_byte[i % 4].code(coder_, bytes_of(r)[i]));
        set_bytes(piece, bytes, count, more);
        r = piece;
        remember_sequences(r);
        model_.in_group = more;
        ++model_.index;
    }

    Coder& coder_;
    RecordModel& model_;
    CpuMemory* cpu_{&model_.cpus[model_.cpu]}; ///< the last record's, then this one's
    unsigned shift_;
};

} // namespace mmioscope::abi
