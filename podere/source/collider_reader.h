// Generated events as a source: collider:N?seed=S.
#pragma once

#include "podere/source/reader.h"

namespace podere::source {

Reader collider_reader();

}  // namespace podere::source
