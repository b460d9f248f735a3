#include "server/read/formats/parquet/row_group_loader.h"

#include <utility>

namespace stoker {

RowGroupLoader::~RowGroupLoader() {
  std::vector<std::thread> threads;
  {
    absl::MutexLock lock(&mutex_);
    ending_ = true;
    threads = std::move(threads_);
  }
  for (std::thread& thread : threads) thread.join();
}

void RowGroupLoader::Add(std::function<void()> task) {
  absl::MutexLock lock(&mutex_);
  tasks_.push_back(std::move(task));
  if (threads_.size() < static_cast<size_t>(most_threads_)) threads_.emplace_back([this] { Run(); });
}

void RowGroupLoader::Run() {
  for (;;) {
    std::function<void()> task;
    {
      absl::MutexLock lock(&mutex_);
      mutex_.Await(absl::Condition(this, &RowGroupLoader::HasTaskOrEnds));
      if (tasks_.empty()) return;
      task = std::move(tasks_.front());
      tasks_.pop_front();
    }
    task();
  }
}

}  // namespace stoker
