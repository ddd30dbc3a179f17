// Isolation forests: rows that a few random splits set apart are anomalies. Source: F. T. Liu, K. M. Ting, Z.-H. Zhou,
// "Isolation-Based Anomaly Detection", ACM TKDD 6 (2012).
#pragma once

#include "podere/algorithm/algorithm.h"

namespace podere::isolation {

/// Called "isolation-forest".
const algorithm::Algorithm& isolation_forest();

}  // namespace podere::isolation
