import { Session, type Profiler } from 'node:inspector'

const samplingMicros = 100

/** For a process of the benchmark: handlers that record where its main thread's time goes. */
export function profiler() {
  const session = new Session()
  const post = (method: string, parameters: object = {}) =>
    new Promise<object>((resolve, reject) =>
      session.post(method, parameters, (error, result) => (error ? reject(error) : resolve(result ?? {}))),
    )
  return {
    async startProfile(): Promise<void> {
      session.connect()
      await post('Profiler.enable')
      await post('Profiler.setSamplingInterval', { interval: samplingMicros })
      await post('Profiler.start')
    },
    async takeProfile(): Promise<Profiler.Profile> {
      const { profile } = (await post('Profiler.stop')) as Profiler.StopReturnType
      session.disconnect()
      return profile
    },
  }
}
