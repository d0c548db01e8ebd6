import type { CallResult, Call } from '../../../../kits/evm/types.ts'
import type { Router } from '../router.ts'

/**
 * Which routers were checked: a configured address of another exchange would give the prices of one and the trades of the other. Each is
 * checked once, before what it would carry out is shown.
 */
export interface RouterChecks {
  /** Of those that were not checked yet. */
  due(routers: readonly Router[]): readonly Router[]
  calls(due: readonly Router[]): readonly Call[]
  /** @throws SluiceError SERVICE_UNINITIALIZED where one trades with other pools than those that are read */
  verify(due: readonly Router[], answers: readonly CallResult[]): void
}

export function routerChecks(): RouterChecks {
  const checked = new Set<Router>()
  return {
    due: (routers) => routers.filter((router) => router.check && !checked.has(router)),
    calls: (due) => due.flatMap(({ check }) => check?.calls ?? []),
    verify(due, answers) {
      let taken = 0
      for (const router of due) {
        const count = router.check?.calls.length ?? 0
        router.check?.verify(answers.slice(taken, (taken += count)))
        checked.add(router)
      }
    },
  }
}
