// A pool of threads that share out a range of indices. Started once, so that a step of a vector of
// games costs no thread creation.
#pragma once

#include <atomic>
#include <condition_variable>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace deskovky {

class ThreadPool {
 public:
  // The caller of `run` is one of the threads.
  explicit ThreadPool(int num_threads) {
    for (int i = 1; i < num_threads; ++i) {
      workers_.emplace_back([this] { work(); });
    }
  }

  ThreadPool(const ThreadPool&) = delete;

  ~ThreadPool() {
    {
      const std::lock_guard lock(mutex_);
      stopping_ = true;
    }
    start_.notify_all();
    for (std::thread& worker : workers_) worker.join();
  }

  int num_threads() const { return static_cast<int>(workers_.size()) + 1; }

  // Calls task(begin, end) for pieces of [0, size) on all threads and waits for the end. The first
  // exception is thrown here.
  void run(int size, const std::function<void(int, int)>& task) {
    constexpr int kSmall = 16;
    if (workers_.empty() || size <= kSmall) return task(0, size);
    {
      const std::lock_guard lock(mutex_);
      task_ = &task;
      size_ = size;
      piece_ = std::max(kSmall / 2, size / (4 * num_threads()));
      next_ = 0;
      busy_ = static_cast<int>(workers_.size());
      error_ = nullptr;
      ++generation_;
    }
    start_.notify_all();
    take_pieces();
    std::unique_lock lock(mutex_);
    done_.wait(lock, [this] { return busy_ == 0; });
    if (error_) std::rethrow_exception(error_);
  }

 private:
  void work() {
    int seen = 0;
    for (;;) {
      {
        std::unique_lock lock(mutex_);
        start_.wait(lock, [&] { return stopping_ || generation_ != seen; });
        if (stopping_) return;
        seen = generation_;
      }
      take_pieces();
      const std::lock_guard lock(mutex_);
      if (--busy_ == 0) done_.notify_one();
    }
  }

  void take_pieces() {
    for (;;) {
      const int begin = next_.fetch_add(piece_);
      if (begin >= size_) return;
      try {
        (*task_)(begin, std::min(begin + piece_, size_));
      } catch (...) {
        const std::lock_guard lock(mutex_);
        if (!error_) error_ = std::current_exception();
      }
    }
  }

  std::vector<std::thread> workers_;
  std::mutex mutex_;
  std::condition_variable start_, done_;
  bool stopping_ = false;
  int generation_ = 0, busy_ = 0;
  const std::function<void(int, int)>* task_ = nullptr;
  int size_ = 0, piece_ = 1;
  std::atomic<int> next_ = 0;
  std::exception_ptr error_;
};

}  // namespace deskovky
