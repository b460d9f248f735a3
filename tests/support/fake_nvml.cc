// Stands for NVIDIA's management library: two GPUs, whose use alternates between 40 and 60 %, and 100 and 0 %.

namespace {

int looks[2] = {};

}  // namespace

extern "C" {

struct Utilization {
  unsigned int gpu, memory;
};

int nvmlInit_v2() { return 0; }
int nvmlShutdown() { return 0; }

int nvmlDeviceGetCount_v2(unsigned int* count) {
  *count = 2;
  return 0;
}

int nvmlDeviceGetHandleByIndex_v2(unsigned int index, void** device) {
  *device = &looks[index];
  return 0;
}

int nvmlDeviceGetUtilizationRates(void* device, Utilization* use) {
  const bool even = (*static_cast<int*>(device))++ % 2 == 0, first = device == &looks[0];
  *use = {first ? (even ? 40u : 60u) : (even ? 100u : 0u), 7u};
  return 0;
}
}
