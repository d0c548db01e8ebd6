import { ConfigError } from '../config/problems.ts'
import { PluginFault, faultOf } from './refusal.ts'

/** Does what reads configuration; what it throws is a fault of the configuration. */
export async function asConfiguration<T>(read: () => Promise<T>, cure: string): Promise<T> {
  try {
    return await read()
  } catch (thrown) {
    throw configurationFault(thrown, cure)
  }
}

/** What the settings said of a plugin's configuration, as a refusal says it: every problem with its place, every cure once. */
function configurationFault(thrown: unknown, cure: string): PluginFault {
  if (!(thrown instanceof ConfigError)) return faultOf(thrown, 'configuration', cure)
  const { problems } = thrown
  const reason = problems
    .map(
      ({ file, line, path, problem }) => `${[line === undefined ? file : `${file}:${line}`, path].filter(Boolean).join(' ')}: ${problem}`,
    )
    .join('; ')
  const step = problems.some(({ path }) => path === 'manifest.schema') ? 'manifest' : 'configuration'
  return new PluginFault(step, reason, [...new Set(problems.map((problem) => problem.cure))].join(' '))
}
