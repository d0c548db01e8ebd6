import type { Engine } from '../engine.ts'
import { createAccount, type Account } from './account.ts'

/** Who never was here has nothing. */
export const readAccount = ({ accounts }: Engine, user: string): Account => accounts.get(user) ?? createAccount(user)
