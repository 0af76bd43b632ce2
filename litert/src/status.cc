// SPDX-License-Identifier: Apache-2.0
//
// Functions without state, which the library and libLiteRt_client.a contain.
#include <tuple>

#include "litert/c/internal/litert_logging.h"
#include "litert/c/litert_common.h"

const char* LiteRtGetStatusString(LiteRtStatus status) {
  switch (status) {
#define DEPUTY_STATUS(name) \
  case name:                \
    return #name;
    DEPUTY_STATUS(kLiteRtStatusOk)
    DEPUTY_STATUS(kLiteRtStatusErrorInvalidArgument)
    DEPUTY_STATUS(kLiteRtStatusErrorMemoryAllocationFailure)
    DEPUTY_STATUS(kLiteRtStatusErrorRuntimeFailure)
    DEPUTY_STATUS(kLiteRtStatusErrorMissingInputTensor)
    DEPUTY_STATUS(kLiteRtStatusErrorUnsupported)
    DEPUTY_STATUS(kLiteRtStatusErrorNotFound)
    DEPUTY_STATUS(kLiteRtStatusErrorTimeoutExpired)
    DEPUTY_STATUS(kLiteRtStatusErrorWrongVersion)
    DEPUTY_STATUS(kLiteRtStatusErrorUnknown)
    DEPUTY_STATUS(kLiteRtStatusErrorAlreadyExists)
    DEPUTY_STATUS(kLiteRtStatusCancelled)
    DEPUTY_STATUS(kLiteRtStatusErrorFileIO)
    DEPUTY_STATUS(kLiteRtStatusErrorInvalidFlatbuffer)
    DEPUTY_STATUS(kLiteRtStatusErrorDynamicLoading)
    DEPUTY_STATUS(kLiteRtStatusErrorSerialization)
    DEPUTY_STATUS(kLiteRtStatusErrorCompilation)
    DEPUTY_STATUS(kLiteRtStatusErrorIndexOOB)
    DEPUTY_STATUS(kLiteRtStatusErrorInvalidIrType)
    DEPUTY_STATUS(kLiteRtStatusErrorInvalidGraphInvariant)
    DEPUTY_STATUS(kLiteRtStatusErrorGraphModification)
    DEPUTY_STATUS(kLiteRtStatusErrorInvalidToolConfig)
    DEPUTY_STATUS(kLiteRtStatusLegalizeNoMatch)
    DEPUTY_STATUS(kLiteRtStatusErrorInvalidLegalization)
    DEPUTY_STATUS(kLiteRtStatusPatternNoMatch)
    DEPUTY_STATUS(kLiteRtStatusInvalidTransformation)
    DEPUTY_STATUS(kLiteRtStatusErrorUnsupportedRuntimeVersion)
    DEPUTY_STATUS(kLiteRtStatusErrorUnsupportedCompilerVersion)
    DEPUTY_STATUS(kLiteRtStatusErrorIncompatibleByteCodeVersion)
    DEPUTY_STATUS(kLiteRtStatusErrorUnsupportedOpShapeInferer)
    DEPUTY_STATUS(kLiteRtStatusErrorShapeInferenceFailed)
#undef DEPUTY_STATUS
  }
  return "unknown status";
}

int LiteRtCompareApiVersion(LiteRtApiVersion version, LiteRtApiVersion reference) {
  const auto left = std::tie(version.major, version.minor, version.patch);
  const auto right = std::tie(reference.major, reference.minor, reference.patch);
  if (left == right) return 0;
  return left < right ? -1 : 1;
}

const char* LiteRtGetLogSeverityName(LiteRtLogSeverity severity) {
  switch (severity) {
    case kLiteRtLogSeverityDebug:
      return "DEBUG";
    case kLiteRtLogSeverityVerbose:
      return "VERBOSE";
    case kLiteRtLogSeverityInfo:
      return "INFO";
    case kLiteRtLogSeverityWarning:
      return "WARNING";
    case kLiteRtLogSeverityError:
      return "ERROR";
    case kLiteRtLogSeveritySilent:
      return "SILENT";
    default:
      return "UNKNOWN";
  }
}
