/** Light or dark: as the system has it, until the reader chooses. */
import { html } from "./dom";

type Theme = "light" | "dark";
const kKey = "podere-theme";
const system = matchMedia("(prefers-color-scheme: dark)");

/** A page from disk may have no storage. */
function stored(): Theme | null {
  try {
    const value = localStorage.getItem(kKey);
    return value === "light" || value === "dark" ? value : null;
  } catch {
    return null;
  }
}

function store(theme: Theme): void {
  try {
    localStorage.setItem(kKey, theme);
  } catch {
    // The choice holds until the page is closed.
  }
}

export function themeSwitch(): HTMLElement {
  let chosen = stored();
  const button = html("button", { type: "button", class: "small" });
  const apply = () => {
    const theme: Theme = chosen ?? (system.matches ? "dark" : "light");
    document.documentElement.dataset.theme = theme;
    button.textContent = theme === "dark" ? "Light" : "Dark";
    button.setAttribute("aria-label", `Switch to ${theme === "dark" ? "light" : "dark"} colors`);
    document.dispatchEvent(new Event(kKey));
  };
  button.addEventListener("click", () => {
    chosen = document.documentElement.dataset.theme === "dark" ? "light" : "dark";
    store(chosen);
    apply();
  });
  system.addEventListener("change", apply);
  apply();
  return button;
}
