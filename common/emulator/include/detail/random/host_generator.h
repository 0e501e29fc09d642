// Random numbers that the host asks for: they come from many subsequences in turn, the lanes, in cuRAND's order (its
// documentation, "Ordering"). A lane makes a group of results at a time, and its state stays behind them.
#ifndef EMULATOR_DETAIL_RANDOM_HOST_GENERATOR_H
#define EMULATOR_DETAIL_RANDOM_HOST_GENERATOR_H

#include "../../curand_kernel.h"

#include <vector>

namespace emulator {

struct host_generator {
  unsigned long long seed = 0;
  virtual ~host_generator() {}
  // Begins again, `offset` numbers ahead.
  virtual void begin(unsigned long long offset) = 0;
  virtual void whole(unsigned *out, size_t count) = 0;
  virtual void uniform(float *out, size_t count) = 0;
  virtual void uniform(double *out, size_t count) = 0;
  virtual void normal(float *out, size_t count) = 0;
  virtual void normal(double *out, size_t count) = 0;
  virtual void poisson(unsigned *out, size_t count, double mean) = 0;
};

// GROUP is how many plain numbers a lane gives in its turn.
template <typename State, unsigned LANES, unsigned GROUP>
struct lanes_generator final : host_generator {
  std::vector<State> lanes;
  unsigned long long turn; // of all lanes
  unsigned taken;          // results of this turn's group that an earlier call has got

  void begin(unsigned long long offset) override {
    lanes.resize(LANES);
    turn = offset / GROUP;
    taken = offset % GROUP;
    curand_init(seed, 0, 0, &lanes[0]);
    for (unsigned i = 1; i < LANES; i++) {
      lanes[i] = lanes[i - 1];
      skipahead_sequence(1, &lanes[i]);
    }
    for (unsigned i = 0; i < LANES; i++)
      skipahead((turn / LANES + (i < turn % LANES)) * GROUP, &lanes[i]);
  }

  // `make` writes a group of results, and is given the lane's state.
  template <unsigned RESULTS, typename T, typename Make>
  void fill(T *out, size_t count, Make make) {
    for (size_t done = 0; done < count;) {
      State &lane = lanes[turn % LANES], before = lane;
      T group[RESULTS];
      make(&lane, group);
      taken %= RESULTS;
      while (taken < RESULTS && done < count) out[done++] = group[taken++];
      if (taken < RESULTS) {
        lane = before; // the rest is for the next call
      } else {
        taken = 0;
        turn++;
      }
    }
  }
  // Of pairs, a lane gives one at least.
  static constexpr unsigned PAIRS = GROUP < 2 ? 2 : GROUP;
  // `draw` gives a pair, and is given the lane's state.
  template <typename T, typename Draw>
  void fill_pairs(T *out, size_t count, Draw draw) {
    fill<PAIRS>(out, count, [draw](State *lane, T *group) {
      for (unsigned i = 0; i < PAIRS; i += 2) {
        const auto pair = draw(lane);
        group[i] = pair.x;
        group[i + 1] = pair.y;
      }
    });
  }

  void whole(unsigned *out, size_t count) override {
    fill<GROUP>(out, count, [](State *lane, unsigned *group) {
      for (unsigned i = 0; i < GROUP; i++) group[i] = curand(lane);
    });
  }
  void uniform(float *out, size_t count) override {
    fill<GROUP>(out, count, [](State *lane, float *group) {
      for (unsigned i = 0; i < GROUP; i++) group[i] = curand_uniform(lane);
    });
  }
  void uniform(double *out, size_t count) override {
    fill<GROUP>(out, count, [](State *lane, double *group) {
      for (unsigned i = 0; i < GROUP; i++) {
        const unsigned low = curand(lane);
        group[i] = uniform_double(low, curand(lane));
      }
    });
  }
  void normal(float *out, size_t count) override {
    fill_pairs(out, count, [](State *lane) { return curand_normal2(lane); });
  }
  void normal(double *out, size_t count) override {
    fill_pairs(out, count, [](State *lane) { return curand_normal2_double(lane); });
  }
  void poisson(unsigned *out, size_t count, double mean) override {
    fill<1>(out, count,
            [mean](State *lane, unsigned *group) { *group = curand_poisson(lane, mean); });
  }
};

using xorwow_generator = lanes_generator<curandStateXORWOW, 4096, 1>;
using philox_generator = lanes_generator<curandStatePhilox4_32_10, 65536, 4>;

} // namespace emulator

#endif
