// Where `sluice proxy` reports which answers its clients have read. A report counts for requests of the same certificate to the same interface alone.
import type Router from '@koa/router'
import * as Type from 'typebox'
import { fieldsReader } from '../config/field-reader.ts'
import type { Deliveries } from '../transactions/deliveries.ts'
import { answerIdPattern, maxReports, reportPath, storedAnswerId } from './answer-reports.ts'
import { withoutContext } from './direct.ts'
import type { RequestState } from './request.ts'
import { jsonHeaders, type ResponseBatcher } from './responses.ts'

const closed = { additionalProperties: false } as const
const readReports = fieldsReader(
  Type.Object(
    {
      answers: Type.Array(Type.Object({ id: Type.String({ pattern: answerIdPattern }), read: Type.Boolean() }, closed), {
        minItems: 1,
        maxItems: maxReports,
      }),
    },
    closed,
  ),
)

/** @param name of the interface's plugin */
export function addReportRoute(
  router: Router<RequestState>,
  name: string,
  { deliveries, send }: { deliveries: Pick<Deliveries, 'report'>; send: ResponseBatcher },
): void {
  const answer = async ({ caller, requestId, res, body }: RequestState): Promise<void> => {
    const { answers } = readReports(body, 'body')
    await deliveries.report(answers.map(({ id, read }) => ({ answerId: storedAnswerId(name, caller.fingerprint, id), read })))
    const text = '{}'
    send(res, 200, jsonHeaders(requestId, text), text)
  }
  router.register(
    reportPath,
    ['POST'],
    withoutContext((state) => {
      state.route = `${name}:${reportPath}`
      return answer(state)
    }),
  )
}
