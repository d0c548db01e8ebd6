import { addressOf, configOf, listOf, slotOf } from '../params.ts'
import { encodeMaybe, encodingOf } from '../encode/account.ts'
import { blockFor, inContext } from '../view.ts'
import type { Methods } from './method.ts'

export const accountMethods: Methods = {
  getBalance(view, [address, config]) {
    const block = blockFor(view, configOf(config))
    const of = addressOf(address)
    return inContext(
      block,
      view.ledger.asOf(block, (svm) => svm.getBalance(of) ?? 0n),
    )
  },
  getAccountInfo(view, [address, config]) {
    const given = configOf(config)
    const [block, of, encoding] = [blockFor(view, given), addressOf(address), encodingOf(given)]
    return inContext(
      block,
      view.ledger.asOf(block, (svm) => encodeMaybe(svm, svm.getAccount(of), encoding)),
    )
  },
  getMultipleAccounts(view, [addresses, config]) {
    const given = configOf(config)
    // Nodes default to base64 here, and not with a single account.
    const [block, encoding] = [blockFor(view, given), encodingOf({ encoding: 'base64', ...given })]
    const all = listOf(addresses, 100).map(addressOf)
    return inContext(
      block,
      view.ledger.asOf(block, (svm) => all.map((each) => encodeMaybe(svm, svm.getAccount(each), encoding))),
    )
  },
  getMinimumBalanceForRentExemption: ({ ledger }, [size]) => ledger.svm.minimumBalanceForRentExemption(slotOf(size)),
}
