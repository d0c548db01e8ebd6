import type { Endpoint } from '../../api/index.ts'
import { fieldsReader, type FieldsReader } from '../../handlers/read-fields.ts'

/** What turns the fields of a query or body into a checked request. @throws SluiceError INCOMPLETE_PARAMS with every problem */
export const requestReader = ({ request }: Endpoint): FieldsReader<Record<string, unknown>> => fieldsReader(request)
