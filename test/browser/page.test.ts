import { describe, expect, test } from 'vitest'
import { startGateway } from '../../src/serve/index.ts'
import { ask } from '../serve/support/gateway.ts'
import { key, openPage, openRequest, rows, untilListed, withPage } from './browser.ts'
import { sendTraffic } from './traffic.ts'

const opened = withPage()

const send = (input: string, headers = {}) =>
  ask(opened.gateway, '/v1/responses', { model: 'gpt-5.6', input }, headers)

/** The cells of a row by their class. */
async function cellsOf(row: number): Promise<Record<string, string>> {
  const cells = rows(opened).nth(row).locator('span')
  const texts = await cells.evaluateAll((nodes) =>
    nodes.map((node) => [node.className.split(' ')[0], node.textContent]),
  )
  return Object.fromEntries(texts)
}

test('the list shows requests as they arrive, newest first', async () => {
  const { page } = opened
  await openPage(opened)
  expect(await page.locator('#empty').isVisible()).toBe(true)
  expect(await page.locator('#example').textContent()).toContain(`curl ${opened.gateway.url}/v1`)

  await send('one', { 'user-agent': 'first/1.0 (x)' })
  await untilListed(opened, 1)
  await ask(opened.gateway, '/v1/models')
  await untilListed(opened, 2)
  expect(await page.locator('#empty').isVisible()).toBe(false)
  expect(await cellsOf(0)).toMatchObject({ status: '200', model: 'GET /v1/models', protocol: '' })
  expect(await cellsOf(1)).toEqual({
    time: expect.stringMatching(/^\d\d:\d\d:\d\d$/),
    status: '200',
    protocol: 'responses',
    model: 'gpt-5.6 → gpt-5.6-sol',
    client: 'first/1.0',
    took: expect.stringMatching(/ m?s$/),
  })
})

test('an open request is shown as ended when it ends, in the list and in its detail', async () => {
  const { gateway, page } = opened
  gateway.setFaults([{ betweenMs: 800 }])
  await openPage(opened)
  const body = { model: 'gpt-5.6', input: 'ping', stream: true }
  const response = await ask(gateway, '/v1/responses', body)
  await rows(opened).first().waitFor()
  const detail = await openRequest(opened, 0)
  await detail.getByText('200, not complete').waitFor()
  await response.text()
  await detail.getByText('200, complete').waitFor()
  expect(await detail.locator(':scope > pre').last().textContent()).toContain('response.completed')
  expect(await page.locator('.row[aria-current]').count()).toBe(1)
})

test.each([
  ['/v1/v1/responses', key, '404', 'has /v1 twice'],
  ['/v1/responses', 'sk-of-someone-else-0987', '401', 'sk-…0987'],
])('a rejected request has its reason: %s with the key %s', async (path, sent, status, reason) => {
  const headers = { authorization: `Bearer ${sent}` }
  await ask(opened.gateway, path, { model: 'gpt-5.6', input: 'Does it build?' }, headers)
  await openPage(opened)
  await untilListed(opened, 1)
  expect(await cellsOf(0)).toMatchObject({ status, reason: expect.stringContaining(reason) })

  const detail = await openRequest(opened, 0)
  expect(await detail.locator('.reason').textContent()).toContain(reason)
  expect(await detail.locator('pre').first().textContent()).toContain('Does it build?')
})

test('the detail shows indented JSON, line breaks as such, and a stream as text', async () => {
  const { gateway, page } = opened
  await send('one\ntwo \\n', { 'x-mark': 'a mark' })
  const body = { model: 'gpt-5.6', input: 'ping', stream: true }
  const stream = await (await ask(gateway, '/v1/responses', body)).text()
  await openPage(opened)
  await untilListed(opened, 2)

  let detail = await openRequest(opened, 1)
  expect(await detail.locator('h2').textContent()).toBe('POST /v1/responses')
  expect(await detail.locator('pre').first().textContent()).toBe(
    '{\n  "model": "gpt-5.6",\n  "input": "one\ntwo \\\\n"\n}',
  )
  await detail.getByText(/^Request headers/).click()
  expect(await detail.locator('details pre').first().textContent()).toContain('x-mark: a mark')
  await detail.getByRole('button', { name: 'Copy the request body' }).click()
  await detail.getByText('Copied').waitFor()
  const copied = await page.evaluate('navigator.clipboard.readText()')
  expect(JSON.parse(copied as string).input).toBe('one\ntwo \\n')

  await rows(opened).first().click()
  detail = page.locator('#detail')
  await detail.getByText('responses, stream').waitFor()
  expect(await detail.locator('pre', { hasText: 'data:' }).textContent()).toBe(stream)
})

test('the keyboard opens and closes a request, and moves to the next one', async () => {
  const { page } = opened
  for (const text of ['one', 'two', 'three']) await send(text)
  await openPage(opened)
  await untilListed(opened, 3)
  await page.keyboard.press('Tab')
  await page.keyboard.press('ArrowDown')
  await page.keyboard.press('Enter')
  const detail = page.locator('#detail')
  expect(await detail.locator('pre').first().textContent()).toContain('"two"')
  await page.keyboard.press('Escape')
  await detail.waitFor({ state: 'hidden' })
  await page.keyboard.press('ArrowUp')
  await page.keyboard.press('Enter')
  await detail.getByText('"three"').waitFor()
  await page.goBack()
  await detail.waitFor({ state: 'hidden' })
})

test('hostile text stays text', async () => {
  const { gateway, page } = opened
  const attack =
    '</script><img src=x onerror="document.title=`taken`"><script>document.title="taken"</script>'
  const body = { model: attack, input: attack, instructions: attack, [attack]: attack }
  await ask(gateway, '/v1/responses', body, { 'user-agent': attack, 'x-mark': attack })
  await ask(gateway, `/v1/${encodeURIComponent(attack)}?${attack}`, undefined)
  await openPage(opened)
  await untilListed(opened, 2)
  for (const row of [0, 1]) {
    const detail = await openRequest(opened, row)
    await detail.locator('summary').first().click()
    expect(await detail.textContent()).toContain('onerror')
  }
  expect(await page.title()).toBe('repoint serve')
  expect(await page.locator('img').count()).toBe(0)
  expect(await page.locator('script').count()).toBe(1)
})

test('no key is in the page', async () => {
  const { gateway, page } = opened
  const foreign = 'sk-someone-elses-key-98765'
  await send(`my key is ${key}`)
  await fetch(`${gateway.url}/v1/models`, { headers: { 'x-api-key': foreign } })
  await openPage(opened)
  await untilListed(opened, 2)
  for (const [row, masked] of ['sk-…8765', 'sk-…0123'].entries()) {
    const detail = await openRequest(opened, row)
    await detail.getByText(masked).first().waitFor()
    for (const secret of [key, foreign]) expect(await page.content()).not.toContain(secret)
  }
})

test('the page lists a full log completely', async () => {
  for (let count = 0; count < 1010; count++) await send(`ping ${count}`)
  await openPage(opened)
  await untilListed(opened, 1000)
  const newest = await rows(opened).first().getAttribute('href')
  await send('one more')
  await expect.poll(() => rows(opened).first().getAttribute('href')).not.toBe(newest)
  expect(await rows(opened).count()).toBe(1000)
  const detail = await openRequest(opened, 0)
  await detail.getByText('"one more"').waitFor()
})

test('the page reconnects to a restarted gateway, and starts its list again', async () => {
  const { page, gateway } = opened
  await send('before')
  await openPage(opened)
  await untilListed(opened, 1)
  await gateway.close()
  await page.locator('#connection[data-state="disconnected"]').waitFor()
  opened.gateway = await startGateway({ port: gateway.port, key })
  await page.locator('#connection[data-state="live"]').waitFor({ timeout: 20_000 })
  await send('after')
  await untilListed(opened, 1)
  await (await openRequest(opened, 0)).getByText('"after"').waitFor()
  // Chromium logs each failed attempt to connect.
  opened.complaints = opened.complaints.filter((complaint) => !complaint.includes('ERR_'))
})

describe.each([390, 1280])('%i pixels wide', (width) => {
  test('nothing reaches beyond the screen, in the list and in a request', async () => {
    const { gateway, page } = opened
    await page.setViewportSize({ width, height: 844 })
    await sendTraffic(gateway)
    await send('x'.repeat(3000), { 'user-agent': `agent/${'1'.repeat(300)}` })
    await ask(gateway, `/v1/${'long'.repeat(100)}`)
    await openPage(opened)
    await untilListed(opened, 10)
    expect(await page.evaluate(overflowing)).toEqual([])

    for (let row = 0; row < 10; row++) {
      const detail = await openRequest(opened, row)
      for (const summary of await detail.locator('summary').all()) await summary.click()
      expect(await page.evaluate(overflowing)).toEqual([])
      expect(await page.locator('#list').isVisible()).toBe(width > 800)
      await detail.getByText('Close').click()
    }
    expect(await page.locator('#list').isVisible()).toBe(true)
  })
})

/** The elements that end right of the screen or scroll sideways; a model or client may be cut with an ellipsis. */
const overflowing = `[document.documentElement, ...document.querySelectorAll('body, body *')]
  .filter((node) => node.checkVisibility())
  .filter((node) => node.getBoundingClientRect().right > innerWidth + 1 ||
    (node.scrollWidth > node.clientWidth + 1 && node.clientWidth > 0 &&
      !node.matches('.model, .client')))
  .map((node) => node.className || node.tagName)`

test.each(['light', 'dark'] as const)(
  'every text has enough contrast in the %s scheme',
  async (colorScheme) => {
    const { page } = opened
    await page.emulateMedia({ colorScheme })
    await openPage(opened)
    const backgroundOf = () =>
      page.evaluate('getComputedStyle(document.documentElement).backgroundColor')
    expect(await backgroundOf()).toBe(
      colorScheme === 'light' ? 'rgb(247, 247, 245)' : 'rgb(20, 22, 25)',
    )

    await sendTraffic(opened.gateway)
    await untilListed(opened, 8)
    for (const row of [1, 7]) {
      const detail = await openRequest(opened, row)
      await detail.locator('summary').first().click()
      const contrasts = (await page.evaluate(contrastScript)) as { text: string; ratio: number }[]
      expect(contrasts.length).toBeGreaterThan(50)
      expect(contrasts.filter(({ ratio }) => ratio < 4.5)).toEqual([])
    }
  },
)

test.runIf(process.env['REPOINT_PICTURE'])('the picture for the docs', async () => {
  const { page } = opened
  await page.emulateMedia({ colorScheme: 'light' })
  await openPage(opened)
  await sendTraffic(opened.gateway)
  await untilListed(opened, 8)
  await openRequest(opened, 0)
  await page.screenshot({ path: 'docs/images/serve.png' })
})

/** The contrast of every visible text with what lies behind it, as WCAG 2 computes it. */
const contrastScript = `(() => {
  const rgb = (text) => (text.match(/[\\d.]+/g) ?? []).map(Number)
  const light = (colour) => {
    const [r, g, b] = colour.map((part) => part / 255).map((part) => part <= 0.03928 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4)
    return 0.2126 * r + 0.7152 * g + 0.0722 * b
  }
  const behind = (element) => {
    for (let at = element; at; at = at.parentElement) {
      const colour = rgb(getComputedStyle(at).backgroundColor)
      if (colour.length === 3 || colour[3] > 0) return colour.slice(0, 3)
    }
    return [255, 255, 255]
  }
  return [...document.querySelectorAll('*')]
    .filter((element) => element.offsetParent !== null && [...element.childNodes].some((node) => node.nodeType === 3 && node.textContent.trim()))
    .map((element) => {
      const [a, b] = [light(rgb(getComputedStyle(element).color).slice(0, 3)), light(behind(element))]
      return { text: element.textContent.slice(0, 40), ratio: (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05) }
    })
})()`
