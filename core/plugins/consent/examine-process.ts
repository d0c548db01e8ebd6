// A process in which a plugin is loaded once to learn what it declares, before it is allowed: it has no key, no setting and no variable of the
// environment, and where the system can contain it, no file and no network. It ends when it has answered.
import { once } from 'node:events'
import { Socket } from 'node:net'
import { createInterface } from 'node:readline'
import { knowCompiled } from '../code/compile.ts'
import type { Examination } from './declaration.ts'
import { examineHere, type ExamineRequest } from './examine-here.ts'
import { channelDescriptor } from '../isolate/containment.ts'
import { remedies } from '../refusal.ts'
import { messageOf } from '../code/thrown.ts'

const channel = new Socket({ fd: channelDescriptor, readable: true, writable: true })

async function answer(): Promise<void> {
  const [line] = await once(createInterface({ input: channel }), 'line')
  const request = JSON.parse(line) as ExamineRequest
  for (const [folder, files] of Object.entries(request.compiled)) knowCompiled(folder, files)
  const examined = await examineHere(request).catch((thrown: unknown): Examination => ({
    is: 'refused',
    step: 'import',
    reason: messageOf(thrown),
    remedy: remedies.correct,
  }))
  channel.end(JSON.stringify(examined), () => process.exit(0))
}
answer().catch(() => process.exit(1))
