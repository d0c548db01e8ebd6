import type { NetworkNames } from '../../contracts/index.ts'

/** The networks that deployments are for, as a manifest names them; their keys are `<chain>/<network>`. */
export function networksIn(deployments: Readonly<Record<string, unknown>>): readonly NetworkNames[] {
  const byChain = new Map<string, string[]>()
  for (const place of Object.keys(deployments)) {
    const [chain = '', network = ''] = place.split('/')
    byChain.set(chain, [...(byChain.get(chain) ?? []), network])
  }
  return [...byChain].map(([chain, networks]) => ({ chain, networks }))
}
