/** An exact text of a source file, and what stands there instead. */
export interface Patch {
  file: string
  find: string
  put: string
}

/** A step that is durable, or that the outside sees: the server may die before it and after it. */
interface Step {
  name: string
  file: string
  find: string
}

const steps: readonly Step[] = [
  {
    name: 'claim of a key',
    file: 'core/transactions/idempotency.ts',
    find: 'claimed = await table.claim(key, { fingerprint: fingerprintOf(request), requestId })',
  },
  {
    name: 'release of a key',
    file: 'core/transactions/idempotency.ts',
    find: 'const stored = await table.release(claim).catch(() => releaseLater(claim))',
  },
  { name: 'journal QUEUED', file: 'core/transactions/journal/journal.ts', find: 'await journal.open(entries, ...rest)' },
  {
    name: 'sign',
    file: 'core/transactions/attempts.ts',
    find: 'const signature = await sign(further)',
  },
  {
    name: 'send',
    file: 'core/transactions/attempts.ts',
    find: 'const result = await withDeadline(closing, sendTimeoutMs, (signal) => sendOn(rail, sent, signal))',
  },
  { name: 'answer', file: 'core/http/responses.ts', find: 'response.writeHead(response.statusCode, headers).end(body, encoding)' },
]

/** Every later version goes by here: the points are named after what it makes of the first entry. */
const writes = {
  file: 'core/transactions/journal/journal.ts',
  find: 'if (!(await journal.write(entries, lease, answer, finalBefore))) return undefined',
  states: ['SIGNED', 'BROADCAST', 'MINED', 'CONFIRMED'],
}

const reached = (point: string) => `globalThis.chaosReached(${point});`

/** Defects of what speaks to Hyperliquid. */
const hyperliquidPatches: Readonly<Record<string, readonly Patch[]>> = {
  'a lost answer is a refusal': [
    {
      file: 'plugins/hyperliquid/send.ts',
      find: "if (posted.is === 'lost') return",
      put: `if (posted.is === 'lost')
      return { is: 'accepted', landed: { ok: false, receipt: { statuses: [{ error: posted.reason }] }, reason: posted.reason } }
    if (posted.is === 'lost') return`,
    },
  ],
  'given up before its time': [{ file: 'plugins/hyperliquid/find-trace.ts', find: 'now > endMs + lagMs && wasThorough', put: 'now > 0' }],
  'nonces given twice': [
    {
      file: 'plugins/hyperliquid/nonces.ts',
      find: 'const first = Math.max(nowMs() + synced.aheadMs, last + 1, ...held.map(({ nonce }) => nonce + 1))',
      put: 'const first = Math.floor((nowMs() + synced.aheadMs) / 1000) * 1000',
    },
  ],
  'older books over newer ones': [
    { file: 'core/live-state/stream-book.ts', find: 'if (isOld) {', put: 'if (isOld && update.sequence < 0) {' },
  ],
}

export const patches: Readonly<Record<string, readonly Patch[]>> = {
  points: [
    ...steps.map(({ name, file, find }) => ({ file, find, put: `${reached(`'before ${name}'`)} ${find}; ${reached(`'after ${name}'`)}` })),
    {
      file: writes.file,
      find: writes.find,
      put: `${reached('`before journal ${entries[0]?.state}`')} ${writes.find}; ${reached('`after journal ${entries[0]?.state}`')}`,
    },
  ],

  'journal after broadcast': [
    {
      file: 'core/transactions/request-signer.ts',
      find: 'const submitted = submitResultOf(signed, prepared)',
      put: `const submitted = submitResultOf(signed, prepared)
      for (const { attempts: [attempt] } of signed) await rail.send(attempt, { signal })
      ${reached("'between broadcast and journal'")}`,
    },
  ],

  'fence off': [
    { file: 'core/transactions/journal/postgres.ts', find: 'and fence = ${fencingToken} for share', put: 'for share' },
    { file: 'core/transactions/journal/embedded.ts', find: 'return found?.fence === fencingToken', put: 'return true' },
  ],

  ...hyperliquidPatches,

  'nonce outside the queue': [
    {
      file: 'core/transactions/nonce-queue.ts',
      find: 'const wanted = nonce === undefined ? free(count) : rail.sequencesFrom(synced(), nonce, count)',
      put: 'const wanted = nonce === undefined ? rail.claim(synced(), [], count) : rail.sequencesFrom(synced(), nonce, count)',
    },
  ],
}

/** Where a server may be told to die: before and after each step. */
export const points: readonly string[] = [...steps.map(({ name }) => name), ...writes.states.map((state) => `journal ${state}`)].flatMap(
  (name) => [`before ${name}`, `after ${name}`],
)
