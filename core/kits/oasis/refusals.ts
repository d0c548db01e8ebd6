/** Why the market refuses, in words that go on from "it would fail: ". It gives a reason to cancels only. */
export const oasisRefusals: Readonly<Record<string, string>> = {
  'Offer was deleted or taken, or never existed.': 'the order is over: it was filled or cancelled',
  'Offer can not be cancelled because user is not owner, and market is open, and offer sells required amount of tokens.':
    "the order is another wallet's",
  'reverted without a reason':
    'the market refused it without a reason: it may be closed or paused, the order book may have moved past the bound, or have too little in it',
}
