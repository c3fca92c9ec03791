// VectorEngine: N games of one kind, stepped by native threads into arrays that are allocated once.
// Each game has its own random stream, so nothing depends on the number of threads.
#pragma once

#include <atomic>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/random.hpp"
#include "core/state.hpp"
#include "core/thread_pool.hpp"

namespace deskovky {

// What happens to a game that has ended (the three modes of gymnasium.vector.AutoresetMode).
enum class Autoreset { kNextStep, kSameStep, kDisabled };

// The arrays of all games, row-major, [N, ...].
struct VectorArrays {
  std::vector<float> observations;            // [N, C, H, W]
  std::vector<float> final_observations;      // likewise; only Autoreset::kSameStep fills it
  std::unique_ptr<bool[]> legal_action_mask;  // [N, A]
  std::unique_ptr<bool[]> terminated;         // [N]
  std::unique_ptr<bool[]> truncated;          // [N]
  std::vector<float> rewards;                 // [N, 2]
  std::vector<std::int8_t> to_move;           // [N]
  std::vector<std::int8_t> termination;       // [N], of the games that this step ended
};

struct VectorOptions {
  int num_envs = 1;
  int num_threads = 1;
  std::uint64_t seed = 0;
  Autoreset autoreset = Autoreset::kNextStep;
  int opening_turns = 0;  // random turns at the start of each game
  bool is_absolute = false;
};

template <Game G>
class VectorEngine {
 public:
  VectorEngine(const State<G>& start, const VectorOptions& options)
      : options_(options), pool_(options.num_threads) {
    const int n = options.num_envs;
    observation_size_ =
        (G::kInfo.num_planes + options.is_absolute) * static_cast<int>(G::kInfo.num_squares());
    arrays_.observations.resize(std::size_t(n) * observation_size_);
    if (options.autoreset == Autoreset::kSameStep) {
      arrays_.final_observations.resize(arrays_.observations.size());
    }
    arrays_.legal_action_mask = std::make_unique<bool[]>(std::size_t(n) * kNumActions);
    arrays_.terminated = std::make_unique<bool[]>(n);
    arrays_.truncated = std::make_unique<bool[]>(n);
    arrays_.rewards.resize(2 * n);
    arrays_.to_move.resize(n);
    arrays_.termination.resize(n);
    games_.reserve(n);
    for (int i = 0; i < n; ++i) games_.push_back({start, {}, Random(options.seed, i), {}});
    reset({});
  }

  const VectorArrays& arrays() const { return arrays_; }
  const VectorOptions& options() const { return options_; }
  const State<G>& state(int i) const { return games_[i].state; }
  int observation_size() const { return observation_size_; }

  void seed(std::uint64_t seed) {
    for (int i = 0; i < options_.num_envs; ++i) games_[i].random = Random(seed, i);
  }

  // Starts the masked games anew, all of them if the mask is empty.
  void reset(std::span<const bool> mask) {
    pool_.run(options_.num_envs, [&](int begin, int end) {
      for (int i = begin; i < end; ++i) {
        if (!mask.empty() && !mask[i]) continue;
        clear_step(i);
        restart(games_[i]);
        publish(i);
      }
    });
  }

  // Steps the active games, all of them if `active` is empty. Throws before anything changes.
  void step(std::span<const std::int64_t> actions, std::span<const bool> active) {
    const auto is_active = [&](int i) { return active.empty() || active[i]; };
    std::atomic<int> first_refused = options_.num_envs;
    pool_.run(options_.num_envs, [&](int begin, int end) {
      for (int i = begin; i < end; ++i) {
        if (!is_active(i) || is_allowed(i, actions[i])) continue;
        int first = first_refused;
        while (i < first && !first_refused.compare_exchange_weak(first, i)) continue;
        return;
      }
    });
    if (first_refused < options_.num_envs) refuse(first_refused, actions[first_refused]);
    pool_.run(options_.num_envs, [&](int begin, int end) {
      for (int i = begin; i < end; ++i) {
        clear_step(i);
        if (is_active(i)) step(i, static_cast<Action>(actions[i]));
      }
    });
  }

  // Writes a uniformly random legal action of each game, 0 where the game has ended.
  void sample_actions(std::span<std::int32_t> actions) {
    pool_.run(options_.num_envs, [&](int begin, int end) {
      for (int i = begin; i < end; ++i) {
        OneGame& game = games_[i];
        const int num_legal = static_cast<int>(game.legal.size());
        actions[i] = num_legal ? game.legal[game.random.below(num_legal)] : 0;
      }
    });
  }

 private:
  static constexpr int kNumActions = G::kInfo.num_actions();
  static_assert(G::kInfo.num_squares() + 10 <= WrittenPlanes::kMostMarks);
  static_assert(G::kInfo.num_planes < 32);

  struct OneGame {
    State<G> state;
    std::vector<std::uint16_t> legal;  // what the mask row shows
    Random random;
    WrittenPlanes written;  // into the row of observations
  };

  bool is_over(int i) const { return games_[i].state.is_over(); }

  bool is_allowed(int i, std::int64_t action) const {
    if (is_over(i)) return options_.autoreset == Autoreset::kNextStep;
    const auto& legal = games_[i].legal;
    return action >= 0 && action < kNumActions &&
           std::binary_search(legal.begin(), legal.end(), static_cast<std::uint16_t>(action));
  }

  void refuse(int i, std::int64_t action) const {
    const std::string in_game = "game " + std::to_string(i) + ": ";
    if (is_over(i)) throw IllegalActionError(in_game + "the game is over; reset it");
    try {
      games_[i].state.check_action(action);
    } catch (const IllegalActionError& error) {
      throw IllegalActionError(in_game + error.what());
    }
  }

  void clear_step(int i) {
    arrays_.rewards[2 * i] = arrays_.rewards[2 * i + 1] = 0.0f;
    arrays_.terminated[i] = arrays_.truncated[i] = false;
    arrays_.termination[i] = 0;
  }

  void step(int i, Action action) {
    OneGame& game = games_[i];
    if (is_over(i)) {  // next-step autoreset: this step only starts the new game
      restart(game);
      return publish(i);
    }
    game.state.apply(action);
    if (is_over(i)) {
      const Outcome& outcome = game.state.outcome();
      arrays_.rewards[2 * i] = static_cast<float>(outcome.reward(0));
      arrays_.rewards[2 * i + 1] = static_cast<float>(outcome.reward(1));
      arrays_.truncated[i] = outcome.termination == Termination::kMaxTurns;
      arrays_.terminated[i] = !arrays_.truncated[i];
      arrays_.termination[i] = static_cast<std::int8_t>(outcome.termination);
      if (options_.autoreset == Autoreset::kSameStep) {
        game.state.write_observation(viewer(game), row(arrays_.final_observations, i),
                                     options_.is_absolute);
        restart(game);
      }
    }
    publish(i);
  }

  // A game that ends in its random opening is drawn anew.
  void restart(OneGame& game) {
    constexpr int kMaxTries = 1000;
    ActionList legal;
    for (int i = 0; i < kMaxTries; ++i) {
      game.state.reset();
      const int last_turn = game.state.position().turns + options_.opening_turns;
      while (game.state.position().turns < last_turn && !game.state.is_over()) {
        game.state.legal_actions(legal);
        game.state.apply(legal[game.random.below(legal.size())]);
      }
      if (!game.state.is_over()) return;
    }
    throw ConfigurationError("opening_turns = " + std::to_string(options_.opening_turns) +
                             ": a thousand random openings all ended the game");
  }

  void publish(int i) {
    OneGame& game = games_[i];
    bool* mask = &arrays_.legal_action_mask[std::size_t(i) * kNumActions];
    for (const auto action : game.legal) mask[action] = false;
    ActionList legal;
    game.state.legal_actions(legal);
    game.legal.assign(legal.begin(), legal.end());
    for (const auto action : game.legal) mask[action] = true;
    arrays_.to_move[i] = static_cast<std::int8_t>(game.state.to_move());
    Planes planes(row(arrays_.observations, i), G::kInfo.num_squares(), &game.written);
    planes.rewrite([&](Planes& wiped) {
      game.state.write_observation(viewer(game), wiped, options_.is_absolute);
    });
  }

  float* row(std::vector<float>& observations, int i) const {
    return &observations[std::size_t(i) * observation_size_];
  }
  int viewer(const OneGame& game) const { return options_.is_absolute ? 0 : game.state.to_move(); }

  VectorOptions options_;
  ThreadPool pool_;
  int observation_size_;
  VectorArrays arrays_;
  std::vector<OneGame> games_;
};

}  // namespace deskovky
