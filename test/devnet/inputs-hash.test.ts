import { mkdir, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { expect } from 'chai'
import { inputsHash } from '../../core/devnet/saved-state.ts'
import { temporaryFolder } from './test-devnet.ts'

describe("the hash of the devnet's inputs", () => {
  let places: Awaited<ReturnType<typeof temporaryFolder>>[]
  const plugin = async (): Promise<{ devnetFile: string; write(name: string, content: string): Promise<void> }> => {
    const place = await temporaryFolder()
    places.push(place)
    const write = async (name: string, content: string): Promise<void> => {
      await mkdir(path.dirname(path.join(place.folder, name)), { recursive: true })
      await writeFile(path.join(place.folder, name), content)
    }
    await write('devnet.ts', 'deploys')
    await write('artifacts/Router.json', '{}')
    return { devnetFile: path.join(place.folder, 'devnet.ts'), write }
  }
  beforeEach(() => {
    places = []
  })
  afterEach(() => Promise.all(places.map((place) => place.remove())))

  for (const name of ['devnet.ts', 'artifacts/Router.json', 'artifacts/New.json', 'devnetPools.ts', 'devnet/pools.ts']) {
    it(`changes with ${name}`, async () => {
      const { devnetFile, write } = await plugin()
      const before = await inputsHash([devnetFile])
      await write(name, 'changed')
      expect(await inputsHash([devnetFile])).to.not.equal(before)
    })
  }

  it("does not change with unused files, the folder's location or the order of files", async () => {
    const [one, same, other] = [await plugin(), await plugin(), await plugin()]
    await other.write('devnet.ts', 'deploys another')
    const before = await inputsHash([one.devnetFile, other.devnetFile])
    await one.write('index.ts', 'changed')
    expect(await inputsHash([other.devnetFile, same.devnetFile])).to.equal(before)
  })
})
