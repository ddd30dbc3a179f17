/** Parts of a view that stay while what they show changes: so a newer document costs no selection, scroll or zoom. */

export interface Part<T> {
  element: HTMLElement;
  show(value: T): void;
}

/** Shows a part for each value, in order, and keeps the part of a key for its next value. A value it shows already costs nothing. */
export class Keyed<T> {
  private parts = new Map<string, Part<T>>();
  private showing = new Map<string, T>();

  constructor(
    readonly element: HTMLElement,
    private keyOf: (value: T) => string,
    private create: (value: T) => Part<T>,
  ) {}

  show(values: T[]): void {
    const old = this.parts;
    this.parts = new Map(values.map((value) => [this.keyOf(value), old.get(this.keyOf(value)) ?? this.create(value)]));
    for (const [key, part] of old) if (!this.parts.has(key)) part.element.remove();
    let place: Element | null = this.element.firstElementChild;
    for (const { element } of this.parts.values()) {
      if (element === place) place = place.nextElementSibling;
      else this.element.insertBefore(element, place);
    }
    // After they are in the page: charts ask for their width.
    const before = this.showing;
    this.showing = new Map(values.map((value) => [this.keyOf(value), value]));
    for (const [key, value] of this.showing) if (before.get(key) !== value) this.parts.get(key)!.show(value);
  }
}
