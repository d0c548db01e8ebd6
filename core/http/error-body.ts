import { SluiceError } from '../api/index.ts'

/** What a caller sees of an error. What is not meant for callers becomes 1099, and the log has the rest. */
export function errorBody(error: unknown, requestId: string) {
  const { name, code, http, message, details, retryAfterSeconds } = error instanceof SluiceError ? error : defect
  return {
    http,
    code,
    name,
    retryAfterSeconds,
    body: { errorCode: code, name, message, httpErrorCode: http, requestId, ...(details !== undefined && { details }) },
  }
}

const defect = new SluiceError('UNKNOWN_ERROR', 'Something is wrong in the server or a plugin; its log has more under this requestId.')
