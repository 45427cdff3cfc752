// Threads that live for one call: nothing is left behind that a fork could break.
#pragma once
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <mutex>
#ifdef REFOLD_THREADS
#include <condition_variable>
#include <exception>
#include <thread>
#include <vector>
#endif

namespace refold {

constexpr int MOST_THREADS = 1024;  // a slip of the finger must not take the machine down

// Throws if the user has asked to stop (Ctrl-C). For the calling thread, which Python knows.
void check_signals();

constexpr auto PATIENCE = std::chrono::milliseconds(50);  // between two looks at signals

// By this a thread says how far it is, and learns that it shall not go on.
class Watch {
 public:
  struct Stopped {};

  Watch(const std::atomic<bool>& stop, bool calling) : stop_(stop), calling_(calling) {}
  // So many values were visited; at least once in some milliseconds.
  void did(int64_t values) {
    if ((since_ += values) >= OFTEN) look();
  }
  void look() {
    since_ = 0;
    if (stop_.load(std::memory_order_relaxed)) throw Stopped{};
    if (!calling_ || Clock::now() - looked_ < PATIENCE) return;
    check_signals();
    looked_ = Clock::now();
  }

 private:
  static constexpr int64_t OFTEN = int64_t(1) << 20;
  using Clock = std::chrono::steady_clock;

  const std::atomic<bool>& stop_;
  const bool calling_;
  int64_t since_ = 0;
  Clock::time_point looked_ = Clock::now();
};

#ifdef REFOLD_THREADS

using Mutex = std::mutex;

// Runs work(t, watch) for t = 0 … n_threads-1, the first on the calling thread. What a thread throws
// ends the others and is thrown again here. Where the system refuses a thread, the calling one does
// its work.
template <class Work>
void on_threads(int n_threads, Work work) {
  std::atomic<bool> stop{false};
  std::mutex guard;
  std::condition_variable ended;
  std::exception_ptr failure;  // the first: those that follow only say Stopped
  int done = 0;
  const auto attempt = [&](auto&& part) {
    try {
      part();
    } catch (...) {
      const std::lock_guard<std::mutex> lock(guard);
      if (!failure) failure = std::current_exception();
      stop = true;
    }
  };
  const auto run = [&](int t, bool calling) {
    attempt([&] {
      Watch watch(stop, calling);
      work(t, watch);
    });
  };
  std::vector<std::thread> others;
  others.reserve(n_threads);
  int started = 1;
  try {
    for (; started < n_threads; ++started)
      others.emplace_back([&, t = started] {
        run(t, false);
        const std::lock_guard<std::mutex> lock(guard);
        ++done;
        ended.notify_one();
      });
  } catch (const std::exception&) {
  }
  run(0, true);
  for (int t = started; t < n_threads; ++t) run(t, true);
  std::unique_lock<std::mutex> lock(guard);
  while (!ended.wait_for(lock, PATIENCE, [&] { return done == int(others.size()); })) {
    lock.unlock();
    if (!stop) attempt(check_signals);
    lock.lock();
  }
  lock.unlock();
  for (auto& thread : others) thread.join();
  if (failure) std::rethrow_exception(failure);
}

// Whoever has added up a part waits until the parts before it are in the sum.
class Turns {
 public:
  template <class Work>
  void take(int64_t turn, Watch& watch, Work work) {
    std::unique_lock<std::mutex> lock(guard_);
    while (!moved_.wait_for(lock, PATIENCE, [&] { return next_ == turn; })) {
      lock.unlock();
      watch.look();  // another may have failed, and its turn never comes
      lock.lock();
    }
    work();
    ++next_;
    moved_.notify_all();
  }

 private:
  std::mutex guard_;
  std::condition_variable moved_;
  int64_t next_ = 0;
};

#else  // the calling thread does all of it, one part after the other

struct Mutex {
  void lock() {}
  void unlock() {}
};

template <class Work>
void on_threads(int n_threads, Work work) {
  const std::atomic<bool> stop{false};
  for (int t = 0; t < n_threads; ++t) {
    Watch watch(stop, true);
    work(t, watch);
  }
}

class Turns {
 public:
  template <class Work>
  void take(int64_t, Watch&, Work work) {
    work();
  }
};

#endif

using Lock = std::lock_guard<Mutex>;

}  // namespace refold
