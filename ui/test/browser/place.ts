import type {Page} from 'playwright-core';

export interface Place {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

// Where something is, once it stays there: what comes above it later moves it, and a click would go elsewhere.
export async function placeOf(page: Page, selector: string): Promise<Place> {
  let before = '';
  for (let tries = 0; tries < 100; tries++) {
    await page.waitForSelector(selector);
    const place = await page.locator(selector).boundingBox();
    if (place && JSON.stringify(place) === before) return place;
    before = JSON.stringify(place);
    await page.waitForTimeout(100);
  }
  throw new Error(`${selector} does not come to rest`);
}
