// The tables and views of an export to SQLite.
#pragma once

namespace mmioscope::exporting {

extern const char sqlite_tables[];

/// What people ask of a trace. Made last: they hold nothing.
extern const char sqlite_views[];

} // namespace mmioscope::exporting
