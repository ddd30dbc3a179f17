/** What each page begins with: the way past it for keyboards, the name, and the colors. */
import { html } from "../dom";
import { themeSwitch } from "../theme";

export const pageHead = (title: HTMLElement, about: HTMLElement, ...actions: HTMLElement[]) => [
  html(
    "a",
    { class: "skip", href: "#content", onclick: (event: Event) => (event.preventDefault(), title.focus()) },
    "Skip to the content",
  ),
  html(
    "header",
    {},
    html("h1", {}, "Podere ", about),
    html("div", { class: "actions" }, ...actions, themeSwitch()),
  ),
];
