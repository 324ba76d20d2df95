// Command showtable prints the key-average tables of an executed notebook.
package main

import (
	"fmt"
	"log"
	"os"

	"github.com/gander-go/gander/internal/notebook"
	"github.com/gander-go/gander/render"
)

func main() {
	log.SetFlags(0)
	if len(os.Args) != 2 {
		log.Fatal("usage: showtable NOTEBOOK")
	}
	nb, err := notebook.ReadFile(os.Args[1])
	if err != nil {
		log.Fatal(err)
	}
	found := false
	for _, c := range nb.Cells {
		for _, o := range c.Outputs {
			data, _ := o["data"].(map[string]any)
			if _, ok := data[render.ProfileMIME]; ok {
				fmt.Println(data["text/plain"])
				found = true
			}
		}
	}
	if !found {
		log.Fatalf("%s holds no profile", os.Args[1])
	}
}
