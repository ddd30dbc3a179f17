// Files of columns as sources.
#pragma once

#include "podere/source/reader.h"

namespace podere::source {

Reader arrow_reader();
Reader hdf5_reader();
Reader parquet_reader();
Reader npy_reader();
Reader npz_reader();
Reader raw_reader();

}  // namespace podere::source
