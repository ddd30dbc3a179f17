// Simulated micrographs as a source: sem:N?seed=S&size=32.
#pragma once

#include "podere/source/reader.h"

namespace podere::source {

Reader sem_reader();

}  // namespace podere::source
