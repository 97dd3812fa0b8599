import type { LoggedRequest } from '../../log/request-log.ts'
import { harOf } from '../read/har.ts'
import { save, say } from './dom.ts'

/** Saves requests as an archive. Their keys are masked already. */
export function saveHar(requests: readonly LoggedRequest[]): void {
  const har = harOf(requests, location.origin)
  save('repoint.har', 'application/json', JSON.stringify(har, null, 2))
}

export async function saveScenario(requests: readonly LoggedRequest[]): Promise<void> {
  const ids = requests.map(({ id }) => id).join(',')
  const answer = await fetch(`/_repoint/scenario?ids=${ids}`)
  if (answer.ok) save('scenario.yaml', 'application/yaml', await answer.text())
  else say('There is no answer of a model in it.')
}
