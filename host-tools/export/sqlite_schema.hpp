// The tables and views of an export to SQLite.
#pragma once

namespace mmioscope::exporting {

extern const char sqlite_tables[];

/// Views for common questions. Created last: they hold no data.
extern const char sqlite_views[];

} // namespace mmioscope::exporting
