#include "stats.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace corral::bench {

double quantile(std::vector<double> samples, double q) {
  if (samples.empty()) return 0;
  std::sort(samples.begin(), samples.end());
  const double position = q * static_cast<double>(samples.size() - 1);
  const auto below = static_cast<std::size_t>(position);
  const std::size_t above = std::min(below + 1, samples.size() - 1);
  const double part = position - static_cast<double>(below);
  return samples[below] + part * (samples[above] - samples[below]);
}

double median(const std::vector<double>& samples) { return quantile(samples, 0.5); }

std::vector<double> ratios(const std::vector<double>& samples, const std::vector<double>& base) {
  std::vector<double> result;
  for (std::size_t i = 0; i < std::min(samples.size(), base.size()); ++i) {
    if (base[i] > 0) result.push_back(samples[i] / base[i]);
  }
  return result;
}

std::vector<double> differences(const std::vector<double>& samples, const std::vector<double>& base) {
  std::vector<double> result;
  for (std::size_t i = 0; i < std::min(samples.size(), base.size()); ++i)
    result.push_back(samples[i] - base[i]);
  return result;
}

double noise_floor(const std::vector<double>& control_ratios) {
  if (control_ratios.empty()) return 0;
  return std::max(std::abs(quantile(control_ratios, 0.25) - 1), std::abs(quantile(control_ratios, 0.75) - 1));
}

}  // namespace corral::bench
