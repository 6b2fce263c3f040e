/* Browsers refuse workers to pages that are opened as files: there the search runs in a hidden frame instead. */
if (location.protocol === "file:") {
  window.Worker = class extends EventTarget {
    constructor(address) {
      super()
      this.waiting = []
      this.frame = document.createElement("iframe")
      this.frame.hidden = true
      document.body.appendChild(this.frame)
      const inside = this.frame.contentWindow
      inside.postMessage = data => this.dispatchEvent(new MessageEvent("message", { data }))
      inside.importScripts = (...addresses) => Promise.all(addresses.map(one => this.load(one)))
      this.load(address).then(() => {
        this.postMessage = data => inside.dispatchEvent(new inside.MessageEvent("message", { data }))
        this.waiting.forEach(data => this.postMessage(data))
      })
    }

    load(address) {
      const script = this.frame.contentDocument.createElement("script")
      script.src = new URL(address, location.href)
      return new Promise((resolve, reject) => {
        script.onload = resolve
        script.onerror = reject
        this.frame.contentDocument.head.appendChild(script)
      })
    }

    postMessage(data) {
      this.waiting.push(data)
    }

    terminate() {
      this.frame.remove()
    }
  }
}
