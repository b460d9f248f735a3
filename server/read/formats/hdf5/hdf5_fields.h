#ifndef STOKER_SERVER_READ_FORMATS_HDF5_HDF5_FIELDS_H_
#define STOKER_SERVER_READ_FORMATS_HDF5_HDF5_FIELDS_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "server/read/formats/hdf5/messages.h"
#include "server/read/formats/mapping/field_mapping.h"

namespace stoker {

// How the datasets of an HDF5 file become fields. All functions are pure.

// Whether a field may be made of the column: it is asked for, or nothing is and it has a type that fields have.
bool IsCandidate(const FieldMap& asked, const Hdf5Column& column);

// Returns the place of the column at a path, or columns.size().
size_t PlaceOf(const std::vector<Hdf5Column>& columns, const std::string& path);

// Returns what a column is where samples differ in size; nothing where it cannot be that.
std::optional<StoredRows> RowsOf(const Hdf5Column& column);

// Maps the columns, whose fields are in `fields` in their order, as MapFields does. Paths may begin with a slash.
// Without `asked` the only column that is called image or images, in whatever group, is the field image, and so is
// label.
absl::StatusOr<FieldMapping> MapColumns(const FieldMap& asked, const std::vector<Hdf5Column>& columns,
                                        const std::vector<absl::StatusOr<SourceField>>& fields);

// InvalidArgument, naming two, where those of a file that are mapped differ in rows.
absl::Status CheckLengths(const FieldMapping& mapping, const std::vector<Hdf5Column>& columns);

}  // namespace stoker

#endif  // STOKER_SERVER_READ_FORMATS_HDF5_HDF5_FIELDS_H_
