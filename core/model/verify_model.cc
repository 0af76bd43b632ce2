// SPDX-License-Identifier: Apache-2.0
#include "core/base/flatbuffers_access.h"
// flatbuffers_access.h is included before all other headers: it disables FlatBuffers' asserts.
#include <cstddef>
#include <cstdint>

#include "core/model/verify_model.h"

namespace deputy {
namespace {

// The fields of a table, in the order of their numbers:
//   1 4 8      a number of as many bytes
//   b h w d    a vector of numbers of 1, 2, 4 or 8 bytes
//   s          a string
//   A to O     a table with the fields of that entry of kTables; after [ a vector of such tables
//   q i o p    a member of QuantizationDetails, SparseIndexVector, BuiltinOptions or
//              BuiltinOptions2, by the type in the previous field
//   .          a deprecated field, which is not read
constexpr const char* const kTables[] = {
    "4[B[Cs[Dw[E[F[G[H",  // A: Model
    "1s44",               // B: OperatorCode
    "[Iww[Js4",           // C: SubGraph
    "b88",                // D: Buffer
    "s4",                 // E: Metadata
    "[O[Os.4",            // F: SignatureDef
    "s",                  // G: ExternalBufferGroup
    "4488s",              // H: ExternalBuffer
    "w14sK1Lw1[N4",       // I: Tensor
    "4ww1ob1bw881p4",     // J: Operator
    "wwwd1q4",            // K: QuantizationParameters
    "ww[M",               // L: SparsityParameters
    "141i1i",             // M: DimensionMetadata
    "w11",                // N: VariantSubType
    "s4",                 // O: TensorMap
};

constexpr const char* const kQuantizationDetails[] = {
    "",      // NONE
    "b",     // CustomQuantization
    "444w",  // BlockwiseQuantization
    "444w",  // MultiAxisQuantization
};

constexpr const char* const kSparseIndexVector[] = {
    "",   // NONE
    "w",  // Int32Vector
    "h",  // Uint16Vector
    "b",  // Uint8Vector
};

constexpr const char* const kBuiltinOptions[] = {
    "",          // NONE
    "1441441",   // Conv2DOptions
    "1444144",   // DepthwiseConv2DOptions
    "4ww",       // ConcatEmbeddingsOptions
    "1",         // LSHProjectionOptions
    "144441",    // Pool2DOptions
    "411",       // SVDFOptions
    "11",        // RNNOptions
    "11111b",    // FullyConnectedOptions
    "4",         // SoftmaxOptions
    "41",        // ConcatenationOptions
    "11",        // AddOptions
    "1",         // L2NormOptions
    "4444",      // LocalResponseNormalizationOptions
    "14411",     // LSTMOptions
    "..11",      // ResizeBilinearOptions
    "4",         // CallOptions
    "w",         // ReshapeOptions
    "441",       // SkipGramOptions
    "4",         // SpaceToDepthOptions
    "1",         // EmbeddingLookupSparseOptions
    "1",         // MulOptions
    "",          // PadOptions
    "44",        // GatherOptions
    "",          // BatchToSpaceNDOptions
    "",          // SpaceToBatchNDOptions
    "",          // TransposeOptions
    "1",         // ReducerOptions
    "11",        // SubOptions
    "1",         // DivOptions
    "w",         // SqueezeOptions
    "111",       // SequenceRNNOptions
    "444441",    // StridedSliceOptions
    "",          // ExpOptions
    "",          // TopKV2Options
    "4",         // SplitOptions
    "",          // LogSoftmaxOptions
    "11",        // CastOptions
    "",          // DequantizeOptions
    "",          // MaximumMinimumOptions
    "1",         // ArgMaxOptions
    "",          // LessOptions
    "",          // NegOptions
    "",          // PadV2Options
    "",          // GreaterOptions
    "",          // GreaterEqualOptions
    "",          // LessEqualOptions
    "",          // SelectOptions
    "",          // SliceOptions
    "14411",     // TransposeConvOptions
    "1",         // SparseToDenseOptions
    "",          // TileOptions
    "",          // ExpandDimsOptions
    "",          // EqualOptions
    "",          // NotEqualOptions
    "1",         // ShapeOptions
    "",          // PowOptions
    "1",         // ArgMinOptions
    "4441",      // FakeQuantOptions
    "44",        // PackOptions
    "",          // LogicalOrOptions
    "4",         // OneHotOptions
    "",          // LogicalAndOptions
    "",          // LogicalNotOptions
    "44",        // UnpackOptions
    "",          // FloorDivOptions
    "",          // SquareOptions
    "",          // ZerosLikeOptions
    "",          // FillOptions
    "144111",    // BidirectionalSequenceLSTMOptions
    "1111",      // BidirectionalSequenceRNNOptions
    "144111",    // UnidirectionalSequenceLSTMOptions
    "",          // FloorModOptions
    "",          // RangeOptions
    "11",        // ResizeNearestNeighborOptions
    "4",         // LeakyReluOptions
    "",          // SquaredDifferenceOptions
    "1",         // MirrorPadOptions
    "",          // AbsOptions
    "4",         // SplitVOptions
    "1",         // UniqueOptions
    "",          // ReverseV2Options
    "",          // AddNOptions
    "",          // GatherNdOptions
    "",          // CosOptions
    "",          // WhereOptions
    "",          // RankOptions
    "44",        // ReverseSequenceOptions
    "",          // MatrixDiagOptions
    "",          // QuantizeOptions
    "",          // MatrixSetDiagOptions
    "",          // HardSwishOptions
    "44",        // IfOptions
    "44",        // WhileOptions
    "4",         // DepthToSpaceOptions
    "",          // NonMaxSuppressionV4Options
    "",          // NonMaxSuppressionV5Options
    "",          // ScatterNdOptions
    "",          // SelectV2Options
    "",          // DensifyOptions
    "",          // SegmentSumOptions
    "111",       // BatchMatMulOptions
    "11",        // CumsumOptions
    "4",         // CallOnceOptions
    "",          // BroadcastToOptions
    "",          // Rfft2dOptions
    "14441444",  // Conv3DOptions
    "411",       // HashtableOptions
    "",          // HashtableFindOptions
    "",          // HashtableImportOptions
    "",          // HashtableSizeOptions
    "ss",        // VarHandleOptions
    "",          // ReadVariableOptions
    "",          // AssignVariableOptions
    "88",        // RandomOptions
    "w",         // BucketizeOptions
    "1",         // GeluOptions
    "",          // DynamicUpdateSliceOptions
    "",          // UnsortedSegmentProdOptions
    "",          // UnsortedSegmentMaxOptions
    "",          // UnsortedSegmentMinOptions
    "",          // UnsortedSegmentSumOptions
    "",          // ATan2Options
    "",          // SignOptions
    "",          // BitcastOptions
    "",          // BitwiseXorOptions
    "",          // RightShiftOptions
};

constexpr const char* const kBuiltinOptions2[] = {
    "",                   // NONE
    "8",                  // StablehloConcatenateOptions
    "d",                  // StablehloBroadcastInDimOptions
    "ddd",                // StablehloSliceOptions
    "ddddb88d88d88d88w",  // StablehloConvolutionOptions
    "s1s4wb",             // StablehloCustomCallOptions
    "d4",                 // StablehloReduceOptions
    "1ddd814",            // StablehloScatterOptions
    "44",                 // StablehloCompareOptions
    "d",                  // StablehloDynamicSliceOptions
    "ddd",                // StablehloPadOptions
    "8",                  // StablehloIotaOptions
    "ddddw",              // StablehloDotGeneralOptions
    "ddddd4",             // StablehloReduceWindowOptions
    "814",                // StablehloSortOptions
    "44",                 // StablehloWhileOptions
    "ddd8d1",             // StablehloGatherOptions
    "d",                  // StablehloTransposeOptions
    "",                   // DilateOptions
    "1",                  // StablehloRngBitGeneratorOptions
    "4",                  // ReduceWindowOptions
    "s4b14",              // StableHLOCompositeOptions
    "",                   // StablehloShiftLeftOptions
    "w",                  // StablehloCaseOptions
};

class ModelVerifier {
 public:
  explicit ModelVerifier(flatbuffers::Verifier* verifier) : verifier_(*verifier) {}

  bool Fields(const flatbuffers::Table& table, const char* kinds) {
    if (!table.VerifyTableStart(verifier_)) return false;
    flatbuffers::voffset_t field = flatbuffers::FieldIndexToOffset(0);
    for (; *kinds != '\0'; ++kinds, field += sizeof field) {
      const bool many = *kinds == '[';
      if (many) ++kinds;
      if (!Field(table, field, *kinds, many)) return false;
    }
    return verifier_.EndTable();
  }

 private:
  bool Field(const flatbuffers::Table& table, flatbuffers::voffset_t field, char kind, bool many) {
    switch (kind) {
      case '.':
        return true;
      case '1':
        return table.VerifyField<uint8_t>(verifier_, field, 1);
      case '4':
        return table.VerifyField<uint32_t>(verifier_, field, 4);
      case '8':
        return table.VerifyField<uint64_t>(verifier_, field, 8);
      default:
        break;
    }
    if (!table.VerifyOffset(verifier_, field)) return false;
    const auto* const target = table.GetPointer<const uint8_t*>(field);
    if (target == nullptr) return true;
    switch (kind) {
      case 'b':
        return verifier_.VerifyVectorOrString(target, 1);
      case 'h':
        return verifier_.VerifyVectorOrString(target, 2);
      case 'w':
        return verifier_.VerifyVectorOrString(target, 4);
      case 'd':
        return verifier_.VerifyVectorOrString(target, 8);
      case 's':
        return verifier_.VerifyString(reinterpret_cast<const flatbuffers::String*>(target));
      case 'q':
        return Member(table, field, target, kQuantizationDetails);
      case 'i':
        return Member(table, field, target, kSparseIndexVector);
      case 'o':
        return Member(table, field, target, kBuiltinOptions);
      case 'p':
        return Member(table, field, target, kBuiltinOptions2);
      default:
        break;
    }
    const char* const kinds = kTables[kind - 'A'];
    if (!many) return Fields(*reinterpret_cast<const flatbuffers::Table*>(target), kinds);
    using Tables = flatbuffers::Vector<flatbuffers::Offset<flatbuffers::Table>>;
    if (!verifier_.VerifyVectorOrString(target, sizeof(flatbuffers::uoffset_t))) return false;
    for (const flatbuffers::Table* element : *reinterpret_cast<const Tables*>(target)) {
      if (!Fields(*element, kinds)) return false;
    }
    return true;
  }

  // Verifies the member of a union whose type is in the field before it.
  template <size_t members>
  bool Member(const flatbuffers::Table& table, flatbuffers::voffset_t field, const uint8_t* member,
              const char* const (&kinds)[members]) {
    const auto type_field = static_cast<flatbuffers::voffset_t>(field - sizeof field);
    const auto type = table.GetField<uint8_t>(type_field, 0);
    if (type == 0 || type >= members) return true;
    return Fields(*reinterpret_cast<const flatbuffers::Table*>(member), kinds[type]);
  }

  flatbuffers::Verifier& verifier_;
};

// The root table, whose function Verify flatbuffers::Verifier calls.
struct Root {
  bool Verify(flatbuffers::Verifier& verifier) const {
    return ModelVerifier(&verifier).Fields(*reinterpret_cast<const flatbuffers::Table*>(this),
                                           kTables[0]);
  }
};

}  // namespace

bool VerifyModel(std::span<const uint8_t> bytes, uint32_t max_tables) {
  flatbuffers::Verifier::Options options;
  options.max_tables = max_tables;
  flatbuffers::Verifier verifier(bytes.data(), bytes.size(), options);
  return verifier.VerifyBuffer<Root>("TFL3");
}

}  // namespace deputy
