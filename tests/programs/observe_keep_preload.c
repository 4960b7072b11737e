/*
 * observe_keep_preload.c - a library to preload that keeps destroyed queues until the process ends, so that an observer
 * still finds all of them then.
 */
typedef unsigned hsa_status_t;
struct hsa_queue_s;
__attribute__((visibility("default"))) hsa_status_t hsa_queue_destroy(struct hsa_queue_s *queue);

hsa_status_t hsa_queue_destroy(struct hsa_queue_s *queue)
{
    (void)queue;
    return 0;
}
