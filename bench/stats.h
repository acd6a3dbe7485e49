// Order statistics over samples. Medians and quartiles throughout: a busy machine only ever adds time, so
// means would measure the neighbours.
#pragma once

#include <vector>

namespace corral::bench {

/// Quantile by linear interpolation; `q` in [0, 1]. 0 for no samples.
double quantile(std::vector<double> samples, double q);

double median(const std::vector<double>& samples);

/// Element by element: the samples were taken next to each other, so the quotient cancels what slowed both.
std::vector<double> ratios(const std::vector<double>& samples, const std::vector<double>& base);
std::vector<double> differences(const std::vector<double>& samples, const std::vector<double>& base);

/// How far from 1 the middle half of the ratios between two equal things lies: below this nothing can be told
/// apart.
double noise_floor(const std::vector<double>& control_ratios);

}  // namespace corral::bench
