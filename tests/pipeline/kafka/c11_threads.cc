// C11's threads, mutexes and conditions over those of POSIX, in front of the C library's, for ThreadSanitizer only:
// it knows POSIX's, librdkafka uses C11's, and a thread that ThreadSanitizer has not seen begin crashes. In glibc the
// types are the same underneath. What librdkafka calls is here, nothing else.
#include <errno.h>
#include <pthread.h>
#include <threads.h>

#include <cstdint>
#include <memory>

namespace {

struct Start {
  thrd_start_t function;
  void* argument;
};

void* run(void* start) {
  const std::unique_ptr<Start> owned(static_cast<Start*>(start));
  return reinterpret_cast<void*>(static_cast<intptr_t>(owned->function(owned->argument)));
}

pthread_mutex_t* posix(mtx_t* mutex) { return reinterpret_cast<pthread_mutex_t*>(mutex); }
pthread_cond_t* posix(cnd_t* condition) { return reinterpret_cast<pthread_cond_t*>(condition); }

int result_of(int error) {
  switch (error) {
    case 0: return thrd_success;
    case EBUSY: return thrd_busy;
    case ETIMEDOUT: return thrd_timedout;
    default: return thrd_error;
  }
}

}  // namespace

extern "C" {

int thrd_create(thrd_t* thread, thrd_start_t function, void* argument) {
  auto start = std::make_unique<Start>(Start{function, argument});
  const int error = pthread_create(thread, nullptr, run, start.get());
  if (error == 0) static_cast<void>(start.release());  // The thread has taken it.
  return result_of(error);
}

int thrd_join(thrd_t thread, int* result) {
  void* returned = nullptr;
  const int error = pthread_join(thread, &returned);
  if (result != nullptr) *result = static_cast<int>(reinterpret_cast<intptr_t>(returned));
  return result_of(error);
}

int thrd_detach(thrd_t thread) { return result_of(pthread_detach(thread)); }

int mtx_init(mtx_t* mutex, int type) {
  pthread_mutexattr_t attributes;
  pthread_mutexattr_init(&attributes);
  if ((type & mtx_recursive) != 0) pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_RECURSIVE);
  return result_of(pthread_mutex_init(posix(mutex), &attributes));
}
void mtx_destroy(mtx_t* mutex) { pthread_mutex_destroy(posix(mutex)); }
int mtx_lock(mtx_t* mutex) { return result_of(pthread_mutex_lock(posix(mutex))); }
int mtx_trylock(mtx_t* mutex) { return result_of(pthread_mutex_trylock(posix(mutex))); }
int mtx_unlock(mtx_t* mutex) { return result_of(pthread_mutex_unlock(posix(mutex))); }

int cnd_init(cnd_t* condition) { return result_of(pthread_cond_init(posix(condition), nullptr)); }
void cnd_destroy(cnd_t* condition) { pthread_cond_destroy(posix(condition)); }
int cnd_signal(cnd_t* condition) { return result_of(pthread_cond_signal(posix(condition))); }
int cnd_broadcast(cnd_t* condition) { return result_of(pthread_cond_broadcast(posix(condition))); }
int cnd_wait(cnd_t* condition, mtx_t* mutex) { return result_of(pthread_cond_wait(posix(condition), posix(mutex))); }
int cnd_timedwait(cnd_t* condition, mtx_t* mutex, const timespec* until) {
  return result_of(pthread_cond_timedwait(posix(condition), posix(mutex), until));
}

}  // extern "C"
