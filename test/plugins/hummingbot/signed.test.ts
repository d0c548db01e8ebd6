import { expect } from 'chai'
import { SluiceError } from '../../../core/base/errors.ts'
import { signOnce } from '../../../plugins/hummingbot/signed.ts'

describe('what waits for an equal request that is being signed', () => {
  const busy = new SluiceError('IN_FLIGHT', 'It is being signed.')
  async function tries(delivered: Promise<boolean>): Promise<{ count: number; outcome: string }> {
    let count = 0
    const sign = async () => {
      count += 1
      if (count < 3) throw busy
      return 'signed'
    }
    const outcome = await signOnce(sign, { signal: AbortSignal.timeout(10_000), delivered }).catch(({ name }: Error) => name)
    return { count, outcome }
  }

  it('signs in its turn while its client is there', async () => {
    expect(await tries(new Promise(() => {}))).to.deep.equal({ count: 3, outcome: 'signed' })
  })

  it('signs nothing once its client is gone: an equal request may have been refused meanwhile', async () => {
    let leave = (_isDelivered: boolean): void => {}
    const delivered = new Promise<boolean>((resolve) => (leave = resolve))
    const tried = tries(delivered)
    await new Promise(setImmediate)
    leave(false)
    expect(await tried).to.deep.equal({ count: 1, outcome: 'IN_FLIGHT' })
  })

  it('signs nothing where its client has gone before it came to sign', async () => {
    expect(await tries(Promise.resolve(false))).to.deep.equal({ count: 0, outcome: 'IN_FLIGHT' })
  })
})
