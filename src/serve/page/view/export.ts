import type { LoggedRequest } from '../../log/request-log.ts'
import { harOf } from '../read/har.ts'
import { save, say } from './dom.ts'

/** Requests as files. Their keys are masked already. */
export interface Exporter {
  har(requests: readonly LoggedRequest[]): void
  scenario(requests: readonly LoggedRequest[]): Promise<void>
}

export const exporter: Exporter = {
  har(requests) {
    save(
      'repoint.har',
      'application/json',
      JSON.stringify(harOf(requests, location.origin), null, 2),
    )
  },

  async scenario(requests) {
    const ids = requests.map(({ id }) => id).join(',')
    const answer = await fetch(`/_repoint/scenario?ids=${ids}`)
    if (answer.ok) save('scenario.yaml', 'application/yaml', await answer.text())
    else say('There is no answer of a model in it.')
  },
}
