import { expect, test } from 'vitest'
import { openAllFolds, openPage, rows, untilRead, withPage } from './browser.ts'
import { anAfternoon } from './traffic.ts'

const opened = withPage({ width: 390, height: 844 })

test('the page on a telephone: nothing stands beside the screen, in the list or in a request', async () => {
  const { gateway, page } = opened
  await anAfternoon(gateway)
  await openPage(opened)
  await untilRead(opened, 10)
  await page.locator('.head:visible').first().waitFor()
  expect(await page.evaluate(beside)).toEqual([])
  const texts = await rows(opened).first().locator('.asks').boundingBox()
  expect(texts!.width).toBeGreaterThan(200)

  const foot = await page.locator('footer').boundingBox()
  expect(foot!.height).toBeLessThan(844 / 12)
  expect(await page.locator('.columns').isVisible()).toBe(false)

  await rows(opened).first().click()
  expect(await page.locator('#list').isVisible()).toBe(false)
  await openAllFolds(opened)
  expect(await page.evaluate(beside)).toEqual([])
  await page.getByRole('button', { name: 'Close' }).click()
  expect(await page.locator('#list').isVisible()).toBe(true)

  for (const name of ['Pause', 'Export', 'Clear']) {
    const box = await page.locator('header').getByText(name).boundingBox()
    expect(box!.x + box!.width).toBeLessThanOrEqual(390)
  }
})

/** What ends right of the screen. */
const beside = `[...document.querySelectorAll('body *')]
  .filter((node) => node.checkVisibility() && node.getBoundingClientRect().right > innerWidth + 1)
  .map((node) => node.className || node.tagName)`
