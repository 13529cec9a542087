// A database: the trace as tables, with views for common questions (sqlite_schema.cpp).
#pragma once

#include "export/columns.hpp"
#include "export/database.hpp"
#include "export/known_ids.hpp"
#include "export/sink.hpp"
#include "records/ticks.hpp"

#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace mmioscope::exporting {

class Sqlite : public Exporter {
public:
    /// Writes to `path`, an empty file, whose name in errors is `name`.
    Sqlite(const std::string& path, const std::string& name);

    void begin(const trace::TraceReader& reader) override;
    void add(const Event& event) override;
    void finish() override;

private:
    void meta(std::string_view key, std::string_view value);
    template <typename... Parts>
    std::string_view key(const Parts&... parts);
    void add_loss(const Event& event);
    void add_row(const Event& event);
    static constexpr std::uint64_t none = UINT64_MAX;
    std::uint64_t id_of(std::string_view column, const Event& event);
    std::uint64_t register_id(const Event& event);
    void add_fields(std::uint64_t register_id, const Register& reg);
    std::uint64_t task_id(const Task& task);
    std::uint64_t interrupt_id(std::string_view name);
    std::uint64_t symbol_id(std::optional<std::uint32_t> address, const Location& location);

    static constexpr std::uint64_t rows_per_transaction = 100'000;

    Cells cells_;
    Database database_;
    Statement event_;
    Statement text_;
    Statement payload_;
    Statement loss_;
    Statement register_;
    Statement symbol_;
    Statement field_;
    Statement field_value_;
    Statement task_;
    Statement interrupt_;
    // Names of one place may change with the direction, the register or the module.
    KnownIds registers_;
    KnownIds tasks_;
    KnownIds symbols_;
    std::string key_; ///< for one of these; kept to avoid allocations
    std::map<std::string, std::uint64_t, std::less<>> interrupts_;
    std::uint64_t fields_ = 0;
    std::uint64_t rows_ = 0;
    const trace::TraceReader* reader_ = nullptr;
};

} // namespace mmioscope::exporting
