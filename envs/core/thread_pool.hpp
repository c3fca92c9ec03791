// A pool of threads that share out a range of indices. Started once, so that a step of a vector of
// games costs no thread creation.
#pragma once

#ifdef _WIN32
#include <process.h>
#define getpid _getpid
#else
#include <unistd.h>
#endif

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

#include "core/errors.hpp"

namespace deskovky {

class ThreadPool {
 public:
  // The caller of `run` is one of the threads. Throws ConfigurationError if the system grants no
  // more threads.
  explicit ThreadPool(int num_threads) : shared_(std::make_unique<Shared>()), pid_(getpid()) {
    try {
      for (int i = 1; i < num_threads; ++i) {
        workers_.emplace_back([shared = shared_.get()] { shared->work(); });
      }
    } catch (const std::system_error& error) {
      stop();
      throw ConfigurationError("num_threads = " + std::to_string(num_threads) +
                               ": the system refuses so many (" + error.what() + ")");
    }
  }

  ThreadPool(const ThreadPool&) = delete;

  ~ThreadPool() {
    if (is_forked()) {  // the threads stayed in the parent process: what they wait on must stay
      for (std::thread& worker : workers_) worker.detach();
      static_cast<void>(shared_.release());
    } else {
      stop();
    }
  }

  int num_threads() const { return static_cast<int>(workers_.size()) + 1; }

  // Calls task(begin, end) for pieces of [0, size) on all threads and waits for the end. The first
  // exception is thrown here. In a forked process the caller is the only thread.
  void run(int size, const std::function<void(int, int)>& task) {
    if (workers_.empty() || size <= kSmall || is_forked()) return task(0, size);
    shared_->run(size, num_threads(), task);
  }

 private:
  static constexpr int kSmall = 16;

  // What the threads share; it outlives them.
  struct Shared {
    std::mutex mutex;
    std::condition_variable start, done;
    bool stopping = false;
    int generation = 0, busy = 0;
    const std::function<void(int, int)>* task = nullptr;
    int size = 0, piece = 1;
    std::atomic<int> next = 0;
    std::exception_ptr error;

    void run(int new_size, int num_threads, const std::function<void(int, int)>& new_task) {
      {
        const std::lock_guard lock(mutex);
        task = &new_task;
        size = new_size;
        piece = std::max(kSmall / 2, size / (4 * num_threads));
        next = 0;
        busy = num_threads - 1;
        error = nullptr;
        ++generation;
      }
      start.notify_all();
      take_pieces();
      std::unique_lock lock(mutex);
      done.wait(lock, [this] { return busy == 0; });
      if (error) std::rethrow_exception(error);
    }

    void work() {
      int seen = 0;
      for (;;) {
        {
          std::unique_lock lock(mutex);
          start.wait(lock, [&] { return stopping || generation != seen; });
          if (stopping) return;
          seen = generation;
        }
        take_pieces();
        const std::lock_guard lock(mutex);
        if (--busy == 0) done.notify_one();
      }
    }

    void take_pieces() {
      for (;;) {
        const int begin = next.fetch_add(piece);
        if (begin >= size) return;
        try {
          (*task)(begin, std::min(begin + piece, size));
        } catch (...) {
          const std::lock_guard lock(mutex);
          if (!error) error = std::current_exception();
        }
      }
    }
  };

  bool is_forked() const { return getpid() != pid_; }

  void stop() {
    {
      const std::lock_guard lock(shared_->mutex);
      shared_->stopping = true;
    }
    shared_->start.notify_all();
    for (std::thread& worker : workers_) worker.join();
  }

  std::unique_ptr<Shared> shared_;
  int pid_;
  std::vector<std::thread> workers_;
};

}  // namespace deskovky
