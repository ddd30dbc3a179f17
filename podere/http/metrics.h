// What Prometheus and its like scrape.
#pragma once

#include <prometheus/metric_family.h>

#include <string>
#include <vector>

#include "podere/http/server.h"

namespace podere::http {

/// The answer to GET /metrics, in the format that the client asks for: OpenMetrics 1.0, or Prometheus' text format
/// 0.0.4, which is that of clients that do not ask. Counters have names that end in _total.
Answer metrics_answer(const std::vector<prometheus::MetricFamily>& families, const Request& request);

/// In Prometheus' text format.
std::string prometheus_text(const std::vector<prometheus::MetricFamily>& families);
/// In OpenMetrics 1.0: https://github.com/prometheus/OpenMetrics/blob/main/specification/OpenMetrics.md
std::string open_metrics_text(const std::vector<prometheus::MetricFamily>& families);

}  // namespace podere::http
