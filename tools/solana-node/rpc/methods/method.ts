import type { Answer } from '../answer.ts'
import type { View } from '../view.ts'

export type Method = (view: View, params: readonly unknown[]) => Answer | Promise<Answer>
export type Methods = Readonly<Record<string, Method>>
