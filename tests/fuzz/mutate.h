// SPDX-License-Identifier: Apache-2.0
//
// Changes to a model that keep it a model: the file stays well formed, what it says need not make
// sense any more. flatc's object API is used on a copy of the schema in its own namespace
// (`deputy::objects`), so that the library's generated header stays what it is.
#ifndef DEPUTY_TESTS_FUZZ_MUTATE_H_
#define DEPUTY_TESTS_FUZZ_MUTATE_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "objects_generated.h"
#include "tests/fuzz/random.h"

namespace deputy::fuzz {

using objects::ModelT;

// ---- The whole ----------------------------------------------------------------------------------

// The file of the model after 1 to 4 changes. `other` lends nodes and tensors.
std::vector<uint8_t> Mutant(const ModelT& model, const ModelT& other, Random* random);

std::vector<uint8_t> PackModel(const ModelT& model);

// A run of up to 12 neighbouring nodes of some subgraph as a model of its own: what goes in and
// comes out of the run are the graph's inputs and outputs.
std::unique_ptr<ModelT> CutOut(const ModelT& model, Random* random);

// Appends the tensors and nodes of a subgraph of `other` to one of `model`.
void Splice(const ModelT& other, ModelT* model, Random* random);

// ---- Single changes -----------------------------------------------------------------------------
// Each makes one change, or none where the model has nothing of the kind.

void MutateNodeTensors(ModelT* model, Random* random);   // which tensors a node reads and makes
void MutateGraphTensors(ModelT* model, Random* random);  // inputs and outputs of subgraphs
void MutateOrder(ModelT* model, Random* random);         // nodes moved, copied and left out
void MutateOperator(ModelT* model, Random* random);      // codes, versions, custom names
void MutateOptionsTable(ModelT* model, Random* random);  // another operator's options, or none
void MutateSignature(ModelT* model, Random* random);
void MutateSubgraphs(ModelT* model, Random* random);  // their order and number

void MutateShape(ModelT* model, Random* random);
void MutateType(ModelT* model, Random* random);
void MutateConstant(ModelT* model, Random* random);  // values of constants
void MutateKnown(ModelT* model, Random* random);     // what is constant is computed instead
void MutateBuffer(ModelT* model, Random* random);    // which buffer, and how long it is
void MutateQuantization(ModelT* model, Random* random);
void MutateSparsity(ModelT* model, Random* random);
void MutateVariable(ModelT* model, Random* random);  // tensors become variables, or cease to be

// One number in the options of an operator of a packed model, in place. Every field is there if
// PackModel made the file.
void MutateOptionsField(std::vector<uint8_t>* file, Random* random);

// The numbers in the options of all operators of subgraph 0 of such a model, in their order. A
// number that is a float becomes the nearest one to `number`, 1e30 for those beyond 2^31 - 2.
size_t CountOptionsFields(std::vector<uint8_t> file);
void SetOptionsField(std::vector<uint8_t>* file, size_t field, int64_t number);

}  // namespace deputy::fuzz

#endif  // DEPUTY_TESTS_FUZZ_MUTATE_H_
