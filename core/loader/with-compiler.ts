import { stop } from 'esbuild'

let underWay = 0

/** Does something that needs esbuild. It is a process of its own, and is not kept for a lifetime in which nothing is compiled. */
export async function withCompiler<T>(compile: () => Promise<T>): Promise<T> {
  underWay += 1
  try {
    return await compile()
  } finally {
    underWay -= 1
    if (underWay === 0) await stop()
  }
}
