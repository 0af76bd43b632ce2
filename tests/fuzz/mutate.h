// SPDX-License-Identifier: Apache-2.0
//
// Mutations that keep a model file well-formed, while its contents may become meaningless. They use
// flatc's object API on a copy of the schema in its own namespace (`deputy::objects`), so that the
// library's generated header stays unchanged.
#ifndef DEPUTY_TESTS_FUZZ_MUTATE_H_
#define DEPUTY_TESTS_FUZZ_MUTATE_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "objects_generated.h"
#include "tests/fuzz/random.h"

namespace deputy::fuzz {

using objects::ModelT;

// ---- Whole models -------------------------------------------------------------------------------

// Returns the file of the model after 1 to 4 changes, with or without nodes of `other`.
std::vector<uint8_t> Mutant(const ModelT& model, const ModelT& other, Random* random);

std::vector<uint8_t> PackModel(const ModelT& model);

// Makes a model of up to 12 consecutive nodes of a subgraph. Its inputs and outputs are those of
// the sequence.
std::unique_ptr<ModelT> CutOut(const ModelT& model, Random* random);

// Appends the tensors and nodes of a subgraph of `other` to a subgraph of `model`.
void Splice(const ModelT& other, ModelT* model, Random* random);

// ---- Single changes -----------------------------------------------------------------------------
// Each of the following functions makes one change, or none if the model has no suitable part.

void MutateNodeTensors(ModelT* model, Random* random);   // tensors that a node reads and writes
void MutateGraphTensors(ModelT* model, Random* random);  // inputs and outputs of subgraphs
void MutateOrder(ModelT* model, Random* random);         // nodes moved, copied and removed
void MutateOperator(ModelT* model, Random* random);      // codes, versions, custom names
void MutateOptionsTable(ModelT* model, Random* random);  // the options of another operator, or none
void MutateSignature(ModelT* model, Random* random);
void MutateSubgraphs(ModelT* model, Random* random);  // order and number of subgraphs

void MutateShape(ModelT* model, Random* random);
void MutateType(ModelT* model, Random* random);
void MutateConstant(ModelT* model, Random* random);  // values of constants
void MutateKnown(ModelT* model, Random* random);     // a constant is computed instead
void MutateBuffer(ModelT* model, Random* random);    // index and size of buffers
void MutateQuantization(ModelT* model, Random* random);
void MutateSparsity(ModelT* model, Random* random);
void MutateVariable(ModelT* model, Random* random);  // is_variable of a tensor

// Changes one number in the options of an operator of a packed model, in place. Every field is
// present if PackModel wrote the file.
void MutateOptionsField(std::vector<uint8_t>* file, Random* random);

// Returns the number of numbers in the options of all operators of subgraph 0 of a packed model;
// SetOptionsField sets one of them. A float field is set to the nearest float, and to 1e30 for
// numbers of 2^31 - 2 and above.
size_t CountOptionsFields(std::vector<uint8_t> file);
void SetOptionsField(std::vector<uint8_t>* file, size_t field, int64_t number);

}  // namespace deputy::fuzz

#endif  // DEPUTY_TESTS_FUZZ_MUTATE_H_
