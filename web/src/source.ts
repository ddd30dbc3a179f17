/** Where documents come from. Views know nothing of it: a page that follows a session has another source, live/live.ts. */
import { readText, type Reading } from "./read";

export interface Source {
  /** Calls `listener` with the first document, and with each newer one. */
  follow(listener: (reading: Reading) => void): void;
}

/** The document that is in the page. Its text is dropped once it is read: it may be large. */
export function embeddedSource(element: HTMLElement): Source {
  return {
    follow(listener) {
      const text = element.textContent ?? "";
      element.remove();
      listener(readText(text));
    },
  };
}
