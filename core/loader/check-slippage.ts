import { PluginFault } from './refusal.ts'

/**
 * A slippage of all or more leaves a SELL without a bound; such a fraction is most likely written upside down.
 * The manifest's schema has checked its form where it asks for one. Throws PluginFault.
 */
export function checkSlippage(name: string, { allowedSlippage, versions }: Readonly<Record<string, unknown>>): void {
  check(name, 'allowedSlippage', allowedSlippage)
  if (!isRecord(versions)) return
  for (const [version, rules] of Object.entries(versions))
    check(name, `versions.${version}.allowedSlippage`, isRecord(rules) ? rules.allowedSlippage : undefined)
}

function check(name: string, key: string, value: unknown): void {
  const [, numerator, denominator] = /^(\d+)\/(\d+)$/.exec(typeof value === 'string' ? value : '') ?? []
  if (numerator === undefined || denominator === undefined || BigInt(numerator) < BigInt(denominator)) return
  throw new PluginFault(
    'configuration',
    `${key} ${numerator}/${denominator} is the whole price or more: trades would have no bound`,
    `Write a fraction below 1 in conf/connectors/${name}.yml, such as 1/100 for one percent.`,
  )
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
