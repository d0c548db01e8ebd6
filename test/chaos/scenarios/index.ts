import { kills } from './kills.ts'
import type { Scenario } from './scenario.ts'

export const scenarios: readonly Scenario[] = [kills as Scenario]
