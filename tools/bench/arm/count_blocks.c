// SPDX-License-Identifier: Apache-2.0
//
// A plug-in for QEMU's user mode that counts the executions of each translated block. At the exit
// of the program it writes one line per executed block to the file of the argument `out`:
//
//     EXECUTIONS ADDRESS WORD WORD ...
//
// EXECUTIONS is decimal, the other fields are hexadecimal. The words are the block's AArch64
// instructions. The counters are not atomic, so the counts of a program are exact only if it has
// one thread.
//
//     cc -O2 -fPIC -shared -o libcount_blocks.so count_blocks.c
//     qemu-aarch64 -plugin libcount_blocks.so,out=FILE PROGRAM
//
// Debian 12 has no package with qemu-plugin.h. The declarations below are the used part of version
// 1 of the interface, which Debian 12's QEMU 7.2 implements; QEMU 9.0 replaced it.

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct qemu_plugin_tb;
struct qemu_plugin_insn;
typedef uint64_t PluginId;
typedef void (*TranslationCallback)(PluginId id, struct qemu_plugin_tb* block);
typedef void (*ExitCallback)(PluginId id, void* data);
enum InlineOperation { kInlineAddU64 = 0 };

void qemu_plugin_register_vcpu_tb_trans_cb(PluginId id, TranslationCallback callback);
void qemu_plugin_register_vcpu_tb_exec_inline(struct qemu_plugin_tb* block,
                                              enum InlineOperation operation, void* counter,
                                              uint64_t value);
void qemu_plugin_register_atexit_cb(PluginId id, ExitCallback callback, void* data);
size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb* block);
uint64_t qemu_plugin_tb_vaddr(const struct qemu_plugin_tb* block);
struct qemu_plugin_insn* qemu_plugin_tb_get_insn(const struct qemu_plugin_tb* block, size_t index);
const void* qemu_plugin_insn_data(const struct qemu_plugin_insn* instruction);

#define EXPORT __attribute__((visibility("default")))
EXPORT int qemu_plugin_version = 1;

// A translated block. Blocks are never freed: QEMU may still increment the counter of a block that
// it has discarded from its cache.
typedef struct Counter {
  struct Counter* next;
  uint64_t executions;
  uint64_t address;
  size_t size;
  uint32_t words[];
} Counter;

static Counter* counters;  // modified under QEMU's translation lock
static const char* out_path;

static void CountBlock(PluginId id, struct qemu_plugin_tb* block) {
  (void)id;
  const size_t size = qemu_plugin_tb_n_insns(block);
  Counter* counter = malloc(sizeof(Counter) + size * sizeof(uint32_t));
  if (counter == NULL) {
    fprintf(stderr, "count_blocks: out of memory\n");
    exit(1);
  }
  counter->next = counters;
  counter->executions = 0;
  counter->address = qemu_plugin_tb_vaddr(block);
  counter->size = size;
  for (size_t i = 0; i < size; ++i) {
    memcpy(&counter->words[i], qemu_plugin_insn_data(qemu_plugin_tb_get_insn(block, i)),
           sizeof(uint32_t));
  }
  counters = counter;
  qemu_plugin_register_vcpu_tb_exec_inline(block, kInlineAddU64, &counter->executions, 1);
}

static void WriteCounters(PluginId id, void* data) {
  (void)id;
  (void)data;
  FILE* file = fopen(out_path, "w");
  if (file == NULL) {
    fprintf(stderr, "count_blocks: cannot write %s\n", out_path);
    return;
  }
  for (const Counter* counter = counters; counter != NULL; counter = counter->next) {
    if (counter->executions == 0) continue;
    fprintf(file, "%llu %llx", (unsigned long long)counter->executions,
            (unsigned long long)counter->address);
    for (size_t i = 0; i < counter->size; ++i) fprintf(file, " %08x", counter->words[i]);
    fputc('\n', file);
  }
  if (fclose(file) != 0) fprintf(stderr, "count_blocks: cannot write %s\n", out_path);
}

EXPORT int qemu_plugin_install(PluginId id, const void* info, int argc, char** argv) {
  (void)info;
  for (int i = 0; i < argc; ++i) {
    if (strncmp(argv[i], "out=", 4) == 0) out_path = strdup(argv[i] + 4);
  }
  if (out_path == NULL) {
    fprintf(stderr, "count_blocks: argument out=FILE is missing\n");
    return 1;
  }
  qemu_plugin_register_vcpu_tb_trans_cb(id, CountBlock);
  qemu_plugin_register_atexit_cb(id, WriteCounters, NULL);
  return 0;
}
