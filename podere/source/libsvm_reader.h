// Files of LIBSVM and SVMlight as a source.
#pragma once

#include "podere/source/reader.h"

namespace podere::source {

Reader libsvm_reader();

}  // namespace podere::source
